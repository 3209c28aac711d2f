//! Buffers log lines under load, so that several are written with one system call.
//!
//! Every request writes a line. One system call per line was slow, and the lanes waited for each
//! other. So a line is written at once if no other came just before it; further lines are buffered
//! and written within [`GATHERED_MAX`]. A warning is written at once, together with the buffered
//! lines.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

/// Maximum time that a line is buffered.
const GATHERED_MAX: Duration = Duration::from_millis(50);
/// Above this size the thread that adds a line writes the buffer itself and waits for the output.
const GATHERED_BYTES_MAX: usize = 64 * 1024;

pub(crate) type LogOutput = Box<dyn Write + Send>;

/// Buffered lines of one output.
pub(crate) struct LineBuffer {
    waiting: Mutex<BufferedLines>,
    begun: Condvar,
    /// Locked before `waiting`, so that lines are written in order.
    output: Mutex<LogOutput>,
}

#[derive(Default)]
struct BufferedLines {
    lines: Vec<u8>,
    written_at: Option<Instant>,
    is_over: bool,
}

impl LineBuffer {
    pub(crate) fn new(output: LogOutput) -> Arc<LineBuffer> {
        let (waiting, begun) = (Mutex::default(), Condvar::new());
        Arc::new(LineBuffer { waiting, begun, output: Mutex::new(output) })
    }

    /// Adds a line, and writes the buffer unless the line may wait.
    fn add(&self, line: &[u8], now: Instant, is_urgent: bool) -> io::Result<()> {
        let mut waiting = lock_mutex(&self.waiting);
        let is_first = waiting.lines.is_empty();
        waiting.lines.extend_from_slice(line);
        let is_alone = waiting.written_at.is_none_or(|then| GATHERED_MAX <= now - then);
        let is_much = GATHERED_BYTES_MAX <= waiting.lines.len();
        if is_urgent || (is_first && is_alone) || is_much || waiting.is_over {
            drop(waiting);
            return self.write();
        }
        drop(waiting);
        if is_first {
            self.begun.notify_one();
        }
        Ok(())
    }

    /// Writes all buffered lines.
    fn write(&self) -> io::Result<()> {
        let mut output = lock_mutex(&self.output);
        let mut waiting = lock_mutex(&self.waiting);
        let lines = std::mem::take(&mut waiting.lines);
        waiting.written_at = Some(Instant::now());
        drop(waiting);
        output.write_all(&lines)
    }

    /// Writes the buffer [`GATHERED_MAX`] after its first line, again and again until the log ends.
    fn keep_writing(&self) {
        loop {
            let waiting = lock_mutex(&self.waiting);
            let none = |waiting: &mut BufferedLines| waiting.lines.is_empty() && !waiting.is_over;
            let waiting =
                self.begun.wait_while(waiting, none).unwrap_or_else(PoisonError::into_inner);
            if waiting.is_over {
                return;
            }
            drop(waiting);
            thread::sleep(GATHERED_MAX);
            // A failed write of the log cannot be logged.
            let _ = self.write();
        }
    }
}

fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes the buffered lines on drop; later lines are written one by one.
#[must_use]
pub struct LogFlushGuard(Option<Arc<LineBuffer>>);

impl LogFlushGuard {
    pub(crate) fn none() -> LogFlushGuard {
        LogFlushGuard(None)
    }

    pub(crate) fn for_buffer(lines: &Arc<LineBuffer>) -> io::Result<LogFlushGuard> {
        let kept = Arc::clone(lines);
        thread::Builder::new().name("log".to_owned()).spawn(move || kept.keep_writing())?;
        Ok(LogFlushGuard(Some(Arc::clone(lines))))
    }
}

impl Drop for LogFlushGuard {
    fn drop(&mut self) {
        if let Some(lines) = &self.0 {
            lock_mutex(&lines.waiting).is_over = true;
            lines.begun.notify_one();
            let _ = lines.write();
        }
    }
}

/// The writer that the subscriber uses.
pub(crate) struct LineBufferWriter(pub(crate) Arc<LineBuffer>);

pub(crate) struct BufferedLineWriter<'log> {
    lines: &'log LineBuffer,
    is_urgent: bool,
}

impl<'log> MakeWriter<'log> for LineBufferWriter {
    type Writer = BufferedLineWriter<'log>;

    fn make_writer(&'log self) -> BufferedLineWriter<'log> {
        BufferedLineWriter { lines: &self.0, is_urgent: true }
    }

    fn make_writer_for(&'log self, metadata: &Metadata<'_>) -> BufferedLineWriter<'log> {
        BufferedLineWriter { lines: &self.0, is_urgent: *metadata.level() <= Level::WARN }
    }
}

impl Write for BufferedLineWriter<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.lines.add(line, Instant::now(), self.is_urgent)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Sends every write to a channel.
    struct LineSender(mpsc::Sender<String>);

    impl Write for LineSender {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.send(String::from_utf8(bytes.to_vec()).unwrap()).unwrap();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn log() -> (Arc<LineBuffer>, mpsc::Receiver<String>) {
        let (sender, written) = mpsc::channel();
        (LineBuffer::new(Box::new(LineSender(sender))), written)
    }

    fn all(written: &mpsc::Receiver<String>) -> Vec<String> {
        written.try_iter().collect()
    }

    #[test]
    fn a_line_alone_is_written_at_once() {
        let (lines, written) = log();
        lines.add(b"one\n", Instant::now(), false).unwrap();
        assert_eq!(all(&written), ["one\n"]);
        lines.add(b"two\n", Instant::now() + GATHERED_MAX * 2, false).unwrap();
        assert_eq!(all(&written), ["two\n"]);
    }

    #[test]
    fn lines_that_follow_at_once_are_written_together_and_in_order() {
        let (lines, written) = log();
        let now = Instant::now();
        for line in [&b"one\n"[..], b"two\n", b"three\n"] {
            lines.add(line, now, false).unwrap();
        }
        assert_eq!(all(&written), ["one\n"]);
        let last = LogFlushGuard::for_buffer(&lines).unwrap();
        assert_eq!(written.recv().unwrap(), "two\nthree\n", "the thread writes what waits");
        drop(last);
    }

    #[test]
    fn a_warning_takes_along_what_came_before_it() {
        let (lines, written) = log();
        let now = Instant::now();
        lines.add(b"one\n", now, false).unwrap();
        lines.add(b"two\n", now, false).unwrap();
        lines.add(b"warning\n", now, true).unwrap();
        assert_eq!(all(&written), ["one\n", "two\nwarning\n"]);
    }

    #[test]
    fn no_more_waits_than_may() {
        let (lines, written) = log();
        let now = Instant::now();
        let long = vec![b'x'; GATHERED_BYTES_MAX / 2];
        for _ in 0..4 {
            lines.add(&long, now, false).unwrap();
        }
        let lengths: Vec<usize> = all(&written).iter().map(String::len).collect();
        assert_eq!(lengths, [GATHERED_BYTES_MAX / 2, GATHERED_BYTES_MAX]);
    }

    #[test]
    fn what_is_left_is_written_at_the_end_and_later_lines_one_by_one() {
        let (lines, written) = log();
        let last = LogFlushGuard::for_buffer(&lines).unwrap();
        // The thread is not notified of this line.
        lock_mutex(&lines.waiting).lines.extend_from_slice(b"left\n");
        drop(last);
        assert_eq!(written.recv().unwrap(), "left\n");
        lines.add(b"later\n", Instant::now(), false).unwrap();
        lines.add(b"last\n", Instant::now(), false).unwrap();
        assert_eq!(all(&written), ["later\n", "last\n"]);
    }
}
