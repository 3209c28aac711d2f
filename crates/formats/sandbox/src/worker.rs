//! One child, as seen by its parent. Dropping it kills the process.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use bytes::Bytes;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::child::{ChildReply, ConfinementReport};
use crate::pool::ChildCommand;
use crate::tasks::{AnyTask, TaskOutcome};
use crate::{ReaderError, message};

/// Timeout of a child's start and confinement, also on a busy machine.
const START_WAIT: Duration = Duration::from_secs(20);
/// Timeout for a child's exit status.
const END_WAIT: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(crate) struct ChildWorker {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
}

/// A child's result of a task.
pub(crate) struct WorkerResult {
    pub(crate) done: TaskOutcome,
    pub(crate) bytes: Vec<u8>,
    /// The child, if it can be reused.
    pub(crate) worker: Option<ChildWorker>,
}

impl ChildWorker {
    pub(crate) async fn start(
        program: &ChildCommand,
    ) -> io::Result<(ChildWorker, ConfinementReport)> {
        let mut child = Command::new(&program.path)
            .args(&program.arguments)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // Ctrl-C in a terminal signals the whole process group, and requests in progress need
            // their reader.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let mut worker = ChildWorker { child, input, output };
        let hello = message::receive_message::<ConfinementReport>(&mut worker.output, 0);
        let (confinement, _) = timeout(START_WAIT, hello).await??;
        Ok((worker, confinement))
    }

    /// Performs a task. The child is returned only if it can be reused.
    pub(crate) async fn perform(
        mut self,
        task: &AnyTask,
        bytes: Bytes,
    ) -> Result<WorkerResult, ReaderError> {
        let bounds = task.bounds();
        let talk = async {
            message::send_message(&mut self.input, task, &bytes).await?;
            // The input is no longer needed here once it is sent.
            drop(bytes);
            message::receive_message::<ChildReply>(&mut self.output, bounds.answer_bytes).await
        };
        match timeout(bounds.time, talk).await {
            Ok(Ok((ChildReply { done: Some(done), is_last }, bytes))) => {
                Ok(WorkerResult { done, bytes, worker: (!is_last).then_some(self) })
            }
            Ok(Ok((ChildReply { done: None, .. }, _))) => {
                Err(ReaderError::Unavailable { cause: "the reader's task panicked".to_owned() })
            }
            Ok(Err(error)) => Err(self.explain_end(&error).await),
            Err(_) => Err(ReaderError::TooMuch {
                how: format!("not done after {} s", bounds.time.as_secs()),
            }),
        }
    }

    /// The reason why a child did not answer: the kernel killed it, or its response was invalid.
    async fn explain_end(mut self, error: &io::Error) -> ReaderError {
        drop(self.input);
        match timeout(END_WAIT, self.child.wait()).await {
            Ok(Ok(status)) if !status.success() => {
                ReaderError::TooMuch { how: describe_exit(status) }
            }
            _ => ReaderError::Unavailable {
                cause: format!("the reader cannot be understood: {error}"),
            },
        }
    }
}

fn describe_exit(status: ExitStatus) -> String {
    format!("the reader ended with {status}")
}
