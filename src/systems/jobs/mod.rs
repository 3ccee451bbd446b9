//! Jobs and workflows: what is run again from its start when it fails.
