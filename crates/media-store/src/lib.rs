//! Objects that were made, in a directory or on S3, each encrypted under a key of its own.
//!
//! Deleting an object destroys its key first: from then on nobody can read it, whatever
//! copies of it there are. Deleting the object itself is housekeeping, and may fail and be tried
//! again.

mod cipher;
mod read;
mod store;
mod write;

pub use cipher::ObjectKey;
pub use store::{MediaError, MediaStore, S3Location};
pub use write::Written;

#[cfg(test)]
mod tests;
