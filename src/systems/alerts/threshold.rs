//! Thresholds: from which number of messages on does `value OP c` hold?

use crate::model::Fires;

/// A comparison of a number of messages with a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `!=`
    Not,
    /// `==`
    Equal,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}

impl Comparison {
    /// The same comparison with its sides changed.
    pub(crate) fn mirrored(self) -> Self {
        match self {
            Self::Above => Self::Below,
            Self::AtLeast => Self::AtMost,
            Self::Below => Self::Above,
            Self::AtMost => Self::AtLeast,
            same => same,
        }
    }

    fn holds(self, value: f64, threshold: f64) -> bool {
        match self {
            Self::Above => value > threshold,
            Self::AtLeast => value >= threshold,
            Self::Not => value != threshold,
            Self::Equal => value == threshold,
            Self::Below => value < threshold,
            Self::AtMost => value <= threshold,
        }
    }
}

/// From which number on an alarm fires: right if at one and not at zero.
pub(crate) fn fires(comparison: Comparison, threshold: f64) -> Fires {
    match (comparison.holds(0.0, threshold), comparison.holds(1.0, threshold)) {
        (false, true) => match comparison {
            // It fires at one message, and falls silent at the second.
            Comparison::Equal => {
                Fires::Never("fires at exactly one message, and falls silent at the second".to_owned())
            }
            _ => Fires::AtOne,
        },
        (false, false) => match comparison {
            Comparison::Above => Fires::Above(threshold),
            Comparison::AtLeast => Fires::Above(threshold.ceil() - 1.0),
            _ => Fires::Never("does not fire when messages pile up".to_owned()),
        },
        (true, true) => Fires::Never("fires at all times, so nobody looks any more".to_owned()),
        (true, false) => Fires::Never("fires when there is no dead letter, not when there is one".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_message_must_be_enough() {
        for (comparison, threshold) in [
            (Comparison::Above, 0.0),
            (Comparison::Above, 0.5),
            (Comparison::AtLeast, 1.0),
            (Comparison::AtLeast, 0.1),
            (Comparison::Not, 0.0),
        ] {
            assert_eq!(fires(comparison, threshold), Fires::AtOne, "{comparison:?} {threshold}");
        }
        assert_eq!(fires(Comparison::Above, 25.0), Fires::Above(25.0));
        assert_eq!(fires(Comparison::Above, 1.0), Fires::Above(1.0));
        assert_eq!(fires(Comparison::AtLeast, 2.0), Fires::Above(1.0));
        assert_eq!(fires(Comparison::AtLeast, 10.0), Fires::Above(9.0));
        for (comparison, threshold) in [
            (Comparison::Above, -1.0),
            (Comparison::AtLeast, 0.0),
            (Comparison::Below, 1.0),
            (Comparison::AtMost, 5.0),
            (Comparison::Equal, 1.0),
            (Comparison::Equal, 7.0),
        ] {
            assert!(matches!(fires(comparison, threshold), Fires::Never(_)), "{comparison:?} {threshold}");
        }
    }
}
