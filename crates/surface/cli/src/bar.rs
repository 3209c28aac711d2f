//! Download progress of a model: a bar on a terminal, otherwise lines.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use logging::WIPE;
use supervisor::ProgressReporter;
use weights::DownloadProgress;

/// Interval of redraws. A log line erases the bar until the next redraw.
pub(crate) const DRAW_EVERY: Duration = Duration::from_millis(100);

const WIDTH: u64 = 30;
/// Without a terminal, a line is printed for every step of this many percent.
const STEP_PERCENT: u64 = 10;

pub(crate) struct ProgressBar {
    id: String,
    is_terminal: bool,
    /// The percentage that was last printed.
    told: Option<u64>,
}

impl ProgressBar {
    pub(crate) fn new(id: &str) -> ProgressBar {
        let is_terminal = std::io::stderr().is_terminal();
        ProgressBar { id: id.to_owned(), is_terminal, told: None }
    }

    pub(crate) fn show(&mut self, progress: DownloadProgress) {
        let percent = progress.percent();
        let line = format_progress(&self.id, progress);
        if self.is_terminal {
            write_stderr(&format!("{WIPE}{line}"));
        } else if self.told.is_none_or(|told| told / STEP_PERCENT < percent / STEP_PERCENT) {
            write_stderr(&format!("{line}\n"));
        } else {
            return;
        }
        self.told = Some(percent);
    }

    pub(crate) fn finish_line(&mut self) {
        if self.is_terminal && self.told.is_some() {
            write_stderr("\n");
        }
    }
}

/// Progress bars of a service that downloads one model after another.
#[derive(Default)]
pub(crate) struct DownloadBars(Option<ProgressBar>);

impl ProgressReporter for DownloadBars {
    fn report_interval(&self) -> Duration {
        DRAW_EVERY
    }

    fn report_progress(&mut self, id: &str, progress: DownloadProgress) {
        self.0.get_or_insert_with(|| ProgressBar::new(id)).show(progress);
    }

    fn finish_report(&mut self) {
        if let Some(mut bar) = self.0.take() {
            bar.finish_line();
        }
    }
}

fn format_progress(id: &str, progress: DownloadProgress) -> String {
    let percent = progress.percent();
    let filled = percent * WIDTH / 100;
    let bar: String = (0..WIDTH).map(|index| if index < filled { '█' } else { '░' }).collect();
    let megabytes = |bytes: u64| bytes / 1_000_000;
    let (done, total) = (megabytes(progress.done_bytes), megabytes(progress.total_bytes));
    format!("{id} {bar} {percent:>3} % {done:>4} of {total} MB")
}

/// Write errors are ignored: a failed redraw must not stop the download.
fn write_stderr(text: &str) {
    let mut error_output = anstream::stderr().lock();
    let _ = error_output.write_all(text.as_bytes()).and_then(|()| error_output.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_it_is_far() {
        let progress = DownloadProgress { done_bytes: 43_000_000, total_bytes: 98_000_000 };
        let expected = "m ████████████░░░░░░░░░░░░░░░░░░  43 %   43 of 98 MB";
        assert_eq!(format_progress("m", progress), expected);
    }
}
