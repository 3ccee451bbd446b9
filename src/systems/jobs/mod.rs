//! Jobs and workflows: what is run again when it fails.

pub mod step_functions;
