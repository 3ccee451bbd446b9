//! Alarms: who hears of a dead letter, and from which number on.

pub(super) mod threshold;
