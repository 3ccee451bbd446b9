//! Alarms: who hears of a dead letter, and from which number on.

pub mod prometheus;
pub(super) mod threshold;
