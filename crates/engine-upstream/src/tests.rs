//! Protocols against golden files, and engines against an upstream that misbehaves on purpose.

mod choices;
mod cuts;
mod embeddings;
mod faults;
mod golden;
mod hostile;
mod local;
mod pictures;
mod queued;
mod queued_workflows;
mod requests;
mod speech;
mod stub;
mod tell;
mod texts;
mod transcriptions;
