//! The changed lines in what `git diff --unified=0` prints.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// The lines of each file as it is now that have changed. Where lines were taken out, those around the gap have.
pub(super) fn lines(diff: &str) -> BTreeMap<String, Vec<RangeInclusive<u32>>> {
    let mut all: BTreeMap<String, Vec<RangeInclusive<u32>>> = BTreeMap::new();
    let mut file: Option<String> = None;
    let mut lines = diff.split('\n');
    while let Some(line) = lines.next() {
        if line.starts_with("diff --git ") {
            file = None;
        } else if let Some(name) = line.strip_prefix("+++ ") {
            file = name_of(name);
        } else if let Some(hunk) = line.strip_prefix("@@ ").and_then(Hunk::parse) {
            if let Some(file) = &file {
                all.entry(file.clone()).or_default().push(hunk.changed());
            }
            // What the lines say is nothing to be read: they may look like any of the above.
            let mut left = u64::from(hunk.removed) + u64::from(hunk.added);
            while left > 0 {
                match lines.next() {
                    Some(line) if line.starts_with('\\') => {}
                    Some(_) => left -= 1,
                    None => break,
                }
            }
        }
    }
    all
}

/// `-7,2 +8,3 @@`.
struct Hunk {
    removed: u32,
    start: u32,
    added: u32,
}

impl Hunk {
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let (_, removed) = range(words.next()?.strip_prefix('-')?)?;
        let (start, added) = range(words.next()?.strip_prefix('+')?)?;
        Some(Self { removed, start, added })
    }

    fn changed(&self) -> RangeInclusive<u32> {
        match self.added {
            // `start` is the line before the gap.
            0 => self.start..=self.start.saturating_add(1),
            n => self.start..=self.start.saturating_add(n - 1),
        }
    }
}

/// `7,2`, or `7` for one line.
fn range(text: &str) -> Option<(u32, u32)> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

/// `b/deploy/kong.yaml`, or `"b/a\"b.yaml"`; nothing for a file that is gone. A name with spaces in it ends with a tab.
fn name_of(text: &str) -> Option<String> {
    let text = text.trim_end_matches(['\r', '\t']);
    let name = match text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(quoted) => unquoted(quoted),
        None => text.to_owned(),
    };
    name.strip_prefix("b/").map(str::to_owned)
}

/// A name as C writes it: `\"`, `\\`, `\t`, `\303`.
fn unquoted(text: &str) -> String {
    let mut out = Vec::new();
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let Some(next) = bytes.next() else { break };
        out.push(match next {
            b'a' => 7,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            b'0'..=b'7' => {
                let mut value = u32::from(next - b'0');
                for _ in 0..2 {
                    let digit = bytes.next_if(|b| (b'0'..=b'7').contains(b));
                    value = digit.map_or(value, |digit| value * 8 + u32::from(digit - b'0'));
                }
                u8::try_from(value).unwrap_or(b'?')
            }
            other => other,
        });
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(diff: &str) -> Vec<(String, Vec<(u32, u32)>)> {
        let pairs = |ranges: Vec<RangeInclusive<u32>>| ranges.into_iter().map(RangeInclusive::into_inner).collect();
        lines(diff).into_iter().map(|(file, ranges)| (file, pairs(ranges))).collect()
    }

    #[test]
    fn changed_added_and_removed_lines() {
        let diff = "\
diff --git a/x.yaml b/x.yaml
index 1..2 100644
--- a/x.yaml
+++ b/x.yaml
@@ -3 +3 @@ services:
-  retries: 3
+  retries: 4
@@ -7,0 +8,2 @@
+a
+b
@@ -9,2 +11,0 @@
-c
-d
diff --git a/new.yaml b/new.yaml
new file mode 100644
--- /dev/null
+++ b/new.yaml
@@ -0,0 +1,3 @@
+a
+b
+c
\\ No newline at end of file
diff --git a/old.yaml b/old.yaml
deleted file mode 100644
--- a/old.yaml
+++ /dev/null
@@ -1 +0,0 @@
-a
";
        assert_eq!(
            read(diff),
            [("new.yaml".to_owned(), vec![(1, 3)]), ("x.yaml".to_owned(), vec![(3, 3), (8, 9), (11, 12)])]
        );
    }

    #[test]
    fn lines_that_look_like_the_frame_are_not_read() {
        let diff = "\
diff --git a/a.sql b/a.sql
--- a/a.sql
+++ b/a.sql
@@ -1,2 +1,2 @@
--- a/b.sql
-@@ -5 +5 @@
+++ b/c.sql
+@@ -9 +9 @@
@@ -20 +20 @@
-x
+y
";
        assert_eq!(read(diff), [("a.sql".to_owned(), vec![(1, 2), (20, 20)])]);
    }

    #[test]
    fn names_with_all_that_a_name_can_hold() {
        for (written, name) in [
            ("b/a b.yaml\t", "a b.yaml"),
            ("\"b/a\\\"b\\\\c\\n.yaml\"", "a\"b\\c\n.yaml"),
            ("\"b/caf\\303\\251.yaml\"", "café.yaml"),
            ("b/café.yaml", "café.yaml"),
        ] {
            assert_eq!(name_of(written).as_deref(), Some(name));
        }
        assert_eq!(name_of("/dev/null"), None);
    }

    #[test]
    fn nothing_breaks_on_a_diff_that_is_cut_off() {
        for diff in ["@@ -1 +1 @@", "+++ b/x\n@@ -1,4 +1,4294967295 @@\n-a", "+++ \"b/x\\", "@@", "+++ \n@@ -a +b @@"] {
            let _ = lines(diff);
        }
    }
}
