//! What a person sees who waits: nothing for the first second, then which stage a run is in. On a terminal only.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::watch::{Stage, Watch};

/// A run that is done sooner shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// A line on standard error that says what goes on. Dropping it takes the line away.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    end: Option<Sender<()>>,
    waiting: Option<JoinHandle<()>>,
}

impl Progress {
    /// `None` where nobody looks: into a pipe, in CI, on a terminal that cannot move its cursor.
    pub fn new() -> Option<Self> {
        is_seen(io::stderr().is_terminal(), &|name| std::env::var_os(name)).then(Self::start)
    }

    fn start() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        let (end, ended) = mpsc::channel();
        let shown = bar.clone();
        let waiting = std::thread::spawn(move || {
            if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(Duration::from_millis(120));
                // Until the sender goes.
                let _ = ended.recv();
            }
        });
        Self { bar, end: Some(end), waiting: Some(waiting) }
    }
}

impl Watch for Progress {
    fn begins(&self, stage: Stage, files: usize) {
        let of = if files == 0 { String::new() } else { format!(" {files} files") };
        self.bar.set_message(format!("{}{of}", stage.name()));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(waiting) = self.waiting.take() {
            // A thread that only waits has nothing to tell.
            let _ = waiting.join();
        }
        self.bar.finish_and_clear();
    }
}

fn is_seen(is_terminal: bool, variable: &dyn Fn(&str) -> Option<OsString>) -> bool {
    let in_ci = variable("CI").is_some_and(|value| !value.is_empty() && value != "false");
    is_terminal && !in_ci && variable("TERM").is_none_or(|term| term != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_for_people_at_a_terminal() {
        let with =
            |name: &'static str, value: &'static str| move |asked: &str| (asked == name).then(|| OsString::from(value));
        assert!(is_seen(true, &with("TERM", "xterm")));
        assert!(!is_seen(false, &with("TERM", "xterm")));
        assert!(!is_seen(true, &with("TERM", "dumb")));
        assert!(!is_seen(true, &with("CI", "true")));
        assert!(is_seen(true, &with("CI", "false")));
    }
}
