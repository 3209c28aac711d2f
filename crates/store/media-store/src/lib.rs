//! Generated media files, in a directory or on S3, each encrypted with a key of its own.
//!
//! Deleting an object destroys its key first: from then on no copy of it can be read. Deleting the
//! stored bytes is housekeeping, which may fail and be retried.

mod cipher;
mod read;
mod record;
mod store;
mod write;

pub use cipher::ObjectKey;
pub use record::{NONCE_BYTES, RecordCipher};
pub use store::{MediaError, MediaStore, S3Location};
pub use write::WrittenObject;

#[cfg(test)]
mod tests;
