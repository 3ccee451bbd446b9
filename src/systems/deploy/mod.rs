//! Deployments: which components there are, by which names they are called, and what they are given.

mod commands;
pub mod compose;
pub mod dockerfile;
pub mod kubernetes;
pub mod spring_cloud;
