//! Paths as they are shown: relative to the working directory, with `/`, without `./`.

use std::path::{Component, Path, PathBuf};

/// `path` as seen from `from`, both absolute and without links or `..`: `src/main.rs`, `../other/x.yaml`, "" for `from` itself.
pub fn relative(path: &Path, from: &Path) -> String {
    let shared = path.components().zip(from.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| "..".to_owned());
    let down = path.components().skip(shared).map(|c| c.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// An absolute path with `/`.
pub fn absolute(path: &Path) -> String {
    slashed(&path.to_string_lossy(), std::path::MAIN_SEPARATOR)
}

/// A path of a system that separates by `separator`, with `/`. Windows resolves links to `\\?\C:\x` and
/// `\\?\UNC\server\x`, which nobody writes.
fn slashed(path: &str, separator: char) -> String {
    if separator == '/' {
        return path.to_owned();
    }
    let plain = match path.strip_prefix(r"\\?\") {
        Some(rest) => rest.strip_prefix(r"UNC\").map_or_else(|| rest.to_owned(), |share| format!(r"\\{share}")),
        None => path.to_owned(),
    };
    plain.replace(separator, "/")
}

/// A path that names no file on the disk (standard input): `.` and inner `..` resolved by text alone.
pub fn lexical(path: &Path) -> String {
    let mut parts: Vec<String> = Vec::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if parts.last().is_some_and(|p| p != ".." && !p.is_empty()) => {
                parts.pop();
            }
            Component::RootDir => parts.push(String::new()),
            other => parts.push(other.as_os_str().to_string_lossy().into_owned()),
        }
    }
    parts.join("/")
}

/// An absolute path without `.` and `..`, by its text alone: the file may be gone.
pub fn resolved(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => _ = out.pop(),
            other => out.push(other),
        }
    }
    out
}

/// A path as it stands in an address: all but the slashes and what is safe everywhere percent-encoded.
pub fn encoded(path: &str) -> String {
    let byte = |b: u8| match b {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => char::from(b).to_string(),
        _ => format!("%{b:02X}"),
    };
    path.bytes().map(byte).collect()
}

/// A name below a shown folder; "" is the working directory.
pub fn join(folder: &str, below: &str) -> String {
    match (folder, below) {
        ("", _) => below.to_owned(),
        (_, "") => folder.to_owned(),
        _ => format!("{}/{below}", folder.trim_end_matches('/')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_go_down_and_up() {
        let cwd = Path::new("/home/me/shop");
        assert_eq!(relative(Path::new("/home/me/shop/deploy/kong.yaml"), cwd), "deploy/kong.yaml");
        assert_eq!(relative(Path::new("/home/me/other/x"), cwd), "../other/x");
        assert_eq!(relative(cwd, cwd), "");
        assert_eq!(relative(Path::new("/etc"), cwd), "../../../etc");
    }

    #[test]
    fn paths_of_windows_are_shown_as_people_write_them() {
        assert_eq!(slashed(r"\\?\C:\shop\deploy\kong.yaml", '\\'), "C:/shop/deploy/kong.yaml");
        assert_eq!(slashed(r"\\?\UNC\files\shop\a.rs", '\\'), "//files/shop/a.rs");
        assert_eq!(slashed(r"D:\shop", '\\'), "D:/shop");
        assert_eq!(slashed(r"/srv/odd\name", '/'), r"/srv/odd\name");
    }

    #[test]
    fn lexical_paths_lose_their_dots() {
        assert_eq!(lexical(Path::new("./a/./b/../c.yaml")), "a/c.yaml");
        assert_eq!(lexical(Path::new("../a.yaml")), "../a.yaml");
        assert_eq!(lexical(Path::new("/srv/a.yaml")), "/srv/a.yaml");
    }

    #[test]
    fn joining_to_the_working_directory_adds_nothing() {
        assert_eq!(join("", "a"), "a");
        assert_eq!(join("x", "a/b"), "x/a/b");
        assert_eq!(join("x", ""), "x");
        assert_eq!(join("/", "a"), "/a");
    }
}
