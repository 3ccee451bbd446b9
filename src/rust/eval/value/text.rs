//! Texts of which parts may be unknown.
use crate::rust::reading::UrlPart;

/// In bytes of known text and parts that are not known: no URL is longer.
pub(super) const MAX_TEXT: usize = 4096;

/// What stands for the rest of a text that is too long.
pub(super) const CUT: TextPart = TextPart::Unknown(u64::MAX);

/// A text, as far as it is known.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Text {
    /// The parts in order.
    pub(crate) parts: Vec<TextPart>,
}

impl Text {
    /// The whole text, if all of it is known.
    pub(crate) fn known(&self) -> Option<String> {
        self.parts
            .iter()
            .map(|p| match p {
                TextPart::Url(UrlPart::Text(t)) => Some(t.as_str()),
                _ => None,
            })
            .collect()
    }

    /// Adds a part; neighbouring known texts become one. Of a text that code doubles again and again the rest is unknown.
    pub(crate) fn push(&mut self, part: TextPart) {
        if self.is_full() {
            if self.parts.last() != Some(&CUT) {
                self.parts.push(CUT);
            }
            return;
        }
        if let (TextPart::Url(UrlPart::Text(new)), Some(TextPart::Url(UrlPart::Text(last)))) =
            (&part, self.parts.last_mut())
        {
            last.push_str(new);
            return;
        }
        self.parts.push(part);
    }

    fn is_full(&self) -> bool {
        let known = |p: &TextPart| if let TextPart::Url(UrlPart::Text(t)) = p { t.len() } else { 1 };
        self.parts.last() == Some(&CUT) || self.parts.iter().map(known).sum::<usize>() > MAX_TEXT
    }

    /// The parts as a URL has them.
    pub(crate) fn url_parts(&self) -> Vec<UrlPart> {
        self.parts
            .iter()
            .map(|p| match p {
                TextPart::Url(part) => part.clone(),
                TextPart::Unknown(_) => UrlPart::Unknown,
            })
            .collect()
    }
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TextPart {
    /// Known text, an environment variable, or something not known.
    Url(UrlPart),
    /// Not known, with its identity.
    Unknown(u64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_doubled_again_and_again_stay_short() {
        for part in [TextPart::Url(UrlPart::Text("/orders".into())), TextPart::Unknown(7)] {
            let mut text = Text { parts: vec![part] };
            for _ in 0..60 {
                for part in text.clone().parts {
                    text.push(part);
                }
            }
            let length: usize = text.url_parts().iter().map(|p| format!("{p:?}").len()).sum();
            assert!(length < 100 * MAX_TEXT && text.known().is_none(), "{length}");
        }
    }
}
