//! A run that tells a waiting person how far it is, and afterwards what it read and how long that took.

use std::time::Instant;

use super::Failure;
use crate::Inputs;
use crate::cli::WatchArgs;
use crate::config::Config;
use crate::progress::Progress;
use crate::report::{Reading, Report};
use crate::run::Run;
use crate::terminal::Terminal;
use crate::watch::{Stage, Timings, Watch};

/// What a run is watched by.
pub(super) struct Watched {
    args: WatchArgs,
    timings: Timings,
}

impl Watched {
    pub(super) fn new(args: WatchArgs) -> Self {
        Self { args, timings: Timings::default() }
    }

    /// All stages but the report, which begins here.
    pub(super) fn run(&self, inputs: &Inputs, config: &Config, terminal: Terminal) -> Result<Run, Failure> {
        let progress = if self.args.quiet { None } else { Progress::new() };
        let watch = Both(&self.timings, progress.as_ref());
        let run = crate::run_watched(inputs, config, &watch).map_err(|error| Failure::Usage(error.to_string()))?;
        drop(progress);
        if self.args.verbose {
            for file in &config.sources {
                terminal.error(&format!("configuration: {}", file.path));
            }
            terminal.err(|out| Reading.write(&run, out));
        }
        self.timings.begins(Stage::Report, run.findings.len());
        Ok(run)
    }

    /// After the report.
    pub(super) fn end(&self, terminal: Terminal) {
        if self.args.timings {
            terminal.err(|out| {
                for (stage, time) in self.timings.until(Instant::now()) {
                    writeln!(out, "{:<9} {:>9.3} s", stage.name(), time.as_secs_f64())?;
                }
                Ok(())
            });
        }
    }
}

struct Both<'w>(&'w Timings, Option<&'w Progress>);

impl Watch for Both<'_> {
    fn begins(&self, stage: Stage, files: usize) {
        self.0.begins(stage, files);
        if let Some(progress) = self.1 {
            progress.begins(stage, files);
        }
    }
}
