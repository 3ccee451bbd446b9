//! Alarms: who hears of a dead letter, and from which number on.

pub mod alertmanager;
pub mod grafana;
pub mod prometheus;
pub(super) mod threshold;
