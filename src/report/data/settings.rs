//! Settings as data: the value, and why it is believed.

use std::time::Duration;

use serde::Serialize;

use super::{Location, Locator};
use crate::model::Setting;

/// Why a value is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Somebody wrote it.
    Written,
    /// Nobody did: the system's documented default.
    Default,
    /// It is not known.
    Unknown,
}

/// A setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettingData<T> {
    /// The value; null where it is not known, or has no number (without limit).
    pub value: Option<T>,
    /// Why it is believed.
    pub origin: Origin,
    /// Where it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// Where the default is documented.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<&'static str>,
    /// Why it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl<T> SettingData<T> {
    pub(super) fn new<U>(setting: &Setting<U>, places: &mut Locator<'_>, value: impl Fn(&U) -> Option<T>) -> Self {
        let none = Self { value: None, origin: Origin::Unknown, location: None, source: None, why: None };
        match setting {
            Setting::Written { value: v, span } => {
                Self { value: value(v), origin: Origin::Written, location: Some(places.of(*span)), ..none }
            }
            Setting::Default { value: v, source } => {
                Self { value: value(v), origin: Origin::Default, source: Some(source), ..none }
            }
            Setting::Unknown { why, span } => {
                Self { location: span.map(|s| places.of(s)), why: Some(why.clone()), ..none }
            }
        }
    }
}

/// In seconds.
pub(super) fn seconds(duration: &Duration) -> Option<f64> {
    Some(duration.as_secs_f64())
}
