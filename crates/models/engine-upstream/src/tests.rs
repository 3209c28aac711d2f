//! Tests protocols against golden files, and engines against a misbehaving upstream.

mod choices;
mod cuts;
mod embeddings;
mod faults;
mod golden;
mod hostile;
mod local;
mod native;
mod pictures;
mod queued;
mod queued_workflows;
mod requests;
mod rerank;
mod responses;
mod speech;
mod stub;
mod tell;
mod texts;
mod transcriptions;
