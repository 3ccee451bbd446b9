//! Finding and reading the configuration file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::problem::{Invalid, Problem};
use super::reader::{self, Names};
use super::{Bases, CONFIG_FILE_ID, CONFIG_NAME, Config};
use crate::source::{SourceFile, shown};

/// The `retrylint.toml` that applies to `start`: in it, if it is a folder, else in the nearest folder above it that has
/// one. Relative to `cwd` if `start` is.
pub fn find(start: &Path, cwd: &Path) -> Option<PathBuf> {
    let real = cwd.join(start).ancestors().find_map(|path| path.canonicalize().ok())?;
    let file = real.ancestors().map(|folder| folder.join(CONFIG_NAME)).find(|file| file.is_file())?;
    Some(if start.is_relative() { shown::relative(&file, cwd).into() } else { file })
}

/// Reads a configuration file. `cwd` is absolute, its links resolved.
pub fn load(file: &Path, cwd: &Path, names: &Names) -> Result<Config, Invalid> {
    let real = cwd.join(file);
    let path = match real.canonicalize() {
        Ok(real) if file.is_relative() || real.starts_with(cwd) => shown::relative(&real, cwd),
        _ => shown::absolute(file),
    };
    let text = match std::fs::read(&real).map(String::from_utf8) {
        Ok(Ok(text)) => text,
        Ok(Err(_)) => return Err(unreadable(path, "not UTF-8".to_owned())),
        Err(error) => return Err(unreadable(path, crate::source::discover::reason(&error))),
    };
    let folder =
        real.canonicalize().ok().and_then(|f| f.parent().map(Path::to_owned)).unwrap_or_else(|| cwd.to_owned());
    let source = SourceFile { id: CONFIG_FILE_ID, path: path.as_str().into(), text: text.as_str().into() };
    let config = parse(&source, names).map_err(|problems| Invalid { path, text, problems })?;
    let baseline = config.baseline.map(|file| shown::resolved(&folder.join(file)));
    Ok(Config {
        baseline,
        file: Some(real),
        source: Some(Arc::new(source)),
        bases: Bases { config: folder, cwd: cwd.to_owned() },
        ..config
    })
}

/// Reads the text of a configuration file.
pub fn parse(source: &SourceFile, names: &Names) -> Result<Config, Vec<Problem>> {
    reader::read(&crate::syntax::toml::parse(source), names)
}

fn unreadable(path: String, reason: String) -> Invalid {
    let message = format!("{path} cannot be read: {reason}");
    Invalid {
        path,
        text: String::new(),
        problems: vec![Problem { range: 0..0, message, label: String::new(), help: None }],
    }
}
