//! Files of callers, and batches: durable lists of calls that run when there is room for them.
//!
//! A batch is a file of lines. Each line is a call, which is held and charged on its own; its result
//! is written in the transaction of its charge, so that a line is charged once and has a result if
//! it was charged, whatever crashes. When all lines have results, these become files.
//!
//! Modules:
//! - `line_reader`, `line_check`, `room`, `turns`, `retry`, `interactive`: decisions as functions of
//!   values.
//! - `files`: stores and deletes files. `orders`: creates, queries and cancels batches.
//! - `worker` claims batches, `validation` reads their file, `run` and `line_run` run their lines,
//!   `output` writes their results into files.

mod done_lines;
mod faults;
mod files;
mod input;
mod interactive;
mod line_check;
mod line_reader;
mod line_result;
mod line_run;
mod line_server;
mod orders;
mod output;
mod result_stream;
mod retry;
mod room;
mod run;
mod service;
mod turns;
mod validation;
mod worker;

pub use faults::BatchFault;
pub use files::{FileDownload, FileError, NewFile, ReceivedFile};
pub use interactive::InteractiveWork;
pub use line_server::{LineReply, LineRequest, LineServer, PendingCharge};
pub use media_store::MediaError;
pub use orders::{BatchOrder, OrderError};
pub use service::{BatchDependencies, BatchService, BatchSettings, FileSettings};

#[cfg(test)]
mod tests;
