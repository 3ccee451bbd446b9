//! Stage two: the text of each file, read once, in parallel.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rayon::prelude::*;

use super::discover::{Found, Origin, reason};
use super::{FileId, SourceFile, Unread};
use crate::syntax::Syntax;

/// Larger files are not read: no settings and no source reach this size, and data of this kind says nothing of retries.
pub const MAX_BYTES: u64 = 64 << 20;

/// The texts, in the order of the files, and what could not be read.
#[derive(Debug, Default)]
pub struct Texts {
    /// Files with their text.
    pub files: Vec<SourceFile>,
    /// Files without.
    pub unread: Vec<Unread>,
}

/// Reads every file that has a syntax. A file's number is its place in `found`.
///
/// `concerns` says whether a file could matter at all: one in another encoding is only reported as unread if so.
pub fn read(found: &[Found], concerns: &(dyn Fn(&SourceFile) -> bool + Sync)) -> Texts {
    let results: Vec<_> = found.par_iter().enumerate().map(|(n, file)| read_one(n, file, concerns)).collect();
    let mut texts = Texts::default();
    for result in results {
        match result {
            Ok(Some(file)) => texts.files.push(file),
            Ok(None) => {}
            Err(unread) => texts.unread.push(unread),
        }
    }
    texts
}

fn read_one(n: usize, found: &Found, concerns: &dyn Fn(&SourceFile) -> bool) -> Result<Option<SourceFile>, Unread> {
    let Some(syntax) = found.syntax else { return Ok(None) };
    let refuse = |reason: String| Unread { path: found.path.clone(), span: None, reason };
    let bytes = bytes(&found.origin).map_err(|error| refuse(reason(&error)))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(refuse(format!("larger than {} MiB", MAX_BYTES >> 20)));
    }
    let id = FileId(u32::try_from(n).unwrap_or(u32::MAX));
    let file = |text: String| SourceFile { id, path: found.path.clone(), text: text.into() };
    match decode(bytes, syntax) {
        Ok(text) => Ok(Some(file(text))),
        Err(Foreign { text, reason }) => {
            if concerns(&file(text)) {
                Err(refuse(reason))
            } else {
                Ok(None)
            }
        }
    }
}

/// The bytes, at most one more than [`MAX_BYTES`].
fn bytes(origin: &Origin) -> io::Result<Vec<u8>> {
    match origin {
        Origin::Given(bytes) => Ok(bytes.to_vec()),
        Origin::Disk(path) => bytes_of(path),
    }
}

fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    let meta = path.metadata()?;
    // A pipe or a device given by name could block for ever or never end.
    if !meta.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len().min(MAX_BYTES)).unwrap_or(0));
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A text in another encoding than UTF-8: what it says as far as can be told, and why it is not read.
struct Foreign {
    text: String,
    reason: String,
}

fn decode(bytes: Vec<u8>, syntax: Syntax) -> Result<String, Foreign> {
    if let Some(encoding) = Wide::of(&bytes) {
        let reason = format!("its encoding is {}; only UTF-8 is read", encoding.name());
        return Err(Foreign { text: encoding.decode(&bytes), reason });
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        // Java wrote ISO 8859-1 here for decades, and proxies read bytes. One byte is one character there, so with a stand-in for each byte
        // that is no ASCII all offsets and columns stay true; no key or number has any.
        Err(error) if syntax.is_of_bytes() => {
            Ok(error.into_bytes().into_iter().map(|b| if b.is_ascii() { char::from(b) } else { '?' }).collect())
        }
        Err(error) => Err(not_utf8(&error)),
    }
}

fn not_utf8(error: &std::string::FromUtf8Error) -> Foreign {
    let at = error.utf8_error().valid_up_to();
    let bytes = error.as_bytes();
    let line = bytes.iter().take(at).filter(|b| **b == b'\n').count() + 1;
    let byte = bytes.get(at).copied().unwrap_or(0);
    Foreign {
        text: String::from_utf8_lossy(bytes).into_owned(),
        reason: format!("not UTF-8: byte 0x{byte:02X} in line {line}"),
    }
}

/// Encodings with wide units, which are told by their byte order mark or by the zero bytes of their first characters.
#[derive(Clone, Copy)]
enum Wide {
    Utf16 { big: bool },
    Utf32 { big: bool },
}

impl Wide {
    fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0xFF, 0xFE, 0, 0, ..] => Some(Self::Utf32 { big: false }),
            [0, 0, 0xFE, 0xFF, ..] => Some(Self::Utf32 { big: true }),
            [0xFF, 0xFE, ..] => Some(Self::Utf16 { big: false }),
            [0xFE, 0xFF, ..] => Some(Self::Utf16 { big: true }),
            [0, a, 0, b, ..] if *a != 0 && *b != 0 => Some(Self::Utf16 { big: true }),
            [a, 0, b, 0, ..] if *a != 0 && *b != 0 => Some(Self::Utf16 { big: false }),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Utf16 { .. } => "UTF-16",
            Self::Utf32 { .. } => "UTF-32",
        }
    }

    fn decode(self, bytes: &[u8]) -> String {
        match self {
            Self::Utf16 { big } => {
                let units = bytes.chunks_exact(2).map(|c| match c {
                    [a, b] if big => u16::from_be_bytes([*a, *b]),
                    [a, b] => u16::from_le_bytes([*a, *b]),
                    _ => 0,
                });
                char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
            }
            Self::Utf32 { big } => {
                let units = bytes.chunks_exact(4).map(|c| match c {
                    [a, b, c, d] if big => u32::from_be_bytes([*a, *b, *c, *d]),
                    [a, b, c, d] => u32::from_le_bytes([*a, *b, *c, *d]),
                    _ => 0,
                });
                units.map(|c| char::from_u32(c).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn found(path: &str, bytes: &[u8]) -> Found {
        Found {
            path: path.into(),
            origin: Origin::Given(Arc::from(bytes)),
            syntax: Syntax::of_path(path),
            named: false,
        }
    }

    fn read_all(files: &[Found]) -> Texts {
        read(files, &|file| file.text.contains("retries"))
    }

    #[test]
    fn numbers_are_places_in_the_list_and_files_without_a_syntax_are_not_read() {
        let texts = read_all(&[found("a.png", b"\x89PNG"), found("b.yaml", b"retries: 3")]);
        assert_eq!(texts.files.len(), 1);
        assert_eq!((texts.files[0].id, &*texts.files[0].text), (FileId(1), "retries: 3"));
        assert!(texts.unread.is_empty());
    }

    #[test]
    fn a_byte_order_mark_stays_in_the_text_so_that_offsets_are_those_of_the_file() {
        let texts = read_all(&[found("a.yaml", b"\xEF\xBB\xBFretries: 3")]);
        assert_eq!(&*texts.files[0].text, "\u{feff}retries: 3");
    }

    #[test]
    fn utf_16_is_unread_where_it_could_matter() {
        let le = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        let be = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
        let texts = read_all(&[
            found("a.yaml", &le("\u{feff}retries: 3")),
            found("b.yaml", &be("\u{feff}retries: 3")),
            found("c.yaml", &le("retries: 3")),
            found("d.yaml", &be("retries: 3")),
            found("e.json", &le("\u{feff}{\"colour\": 3}")),
        ]);
        assert!(texts.files.is_empty());
        let unread: Vec<_> = texts.unread.iter().map(|u| (&*u.path, &*u.reason)).collect();
        let reason = "its encoding is UTF-16; only UTF-8 is read";
        assert_eq!(unread, [("a.yaml", reason), ("b.yaml", reason), ("c.yaml", reason), ("d.yaml", reason)]);
    }

    #[test]
    fn utf_32_is_told_from_utf_16() {
        let bytes: Vec<u8> = "\u{feff}retries".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
        assert_eq!(read_all(&[found("a.yaml", &bytes)]).unread[0].reason, "its encoding is UTF-32; only UTF-8 is read");
    }

    #[test]
    fn invalid_utf_8_names_its_byte_and_line() {
        let texts = read_all(&[found("a.yaml", b"x: 1\nretries: \xE9\n"), found("b.yaml", b"x: \xE9")]);
        assert_eq!(texts.unread.len(), 1);
        assert_eq!(texts.unread[0].reason, "not UTF-8: byte 0xE9 in line 2");
    }

    #[test]
    fn latin_1_properties_are_read_with_their_offsets() {
        let texts = read_all(&[found("a.properties", b"owner=Andr\xE9\nretries=3\n")]);
        assert_eq!(&*texts.files[0].text, "owner=Andr?\nretries=3\n");
    }

    #[test]
    fn a_file_over_the_limit_is_unread() {
        let big = vec![b' '; MAX_BYTES as usize + 1];
        assert_eq!(read_all(&[found("a.yaml", &big)]).unread[0].reason, "larger than 64 MiB");
    }

    #[test]
    fn a_file_that_went_away_is_unread() {
        let origin = Origin::Disk("/no/such/file.yaml".into());
        let gone = Found { path: "file.yaml".into(), origin, syntax: Some(Syntax::Yaml), named: true };
        assert_eq!(read_all(&[gone]).unread[0].reason, "no such file");
    }
}
