//! Texts in XML.

/// A text as content or as the value of an attribute. What XML 1.0 cannot hold becomes the replacement character.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn nothing_of_a_text_becomes_markup() {
        assert_eq!(escaped("a < b && \"c\"\u{1}\n"), "a &lt; b &amp;&amp; &quot;c&quot;\u{fffd}&#10;");
    }
}
