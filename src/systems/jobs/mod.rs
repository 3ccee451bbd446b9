//! Jobs and workflows: what is run again when it fails.

pub mod argo_workflows;
pub mod celery;
pub mod dag_factory;
pub mod kubernetes_jobs;
pub mod sidekiq;
pub mod solid_queue;
pub mod step_functions;
pub mod tekton;
pub mod temporal;
