//! Writes an object, sealing it piece by piece as the bytes arrive.

use std::fmt::Display;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use object_store::{ObjectStoreExt, WriteMultipart};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::cipher::{ObjectCipher, ObjectKey, PIECE_BYTES, SEALED_BYTES};
use crate::store::{MediaError, MediaStore};

/// Bytes of one part of a multipart upload; S3 requires at least 5 MiB.
const PART_BYTES: usize = 8 * 1024 * 1024;
/// Concurrent part uploads, which bounds the memory of an upload.
const PARTS_AT_ONCE: usize = 2;
/// Leading bytes that are kept to recognise the file type.
const HEAD_BYTES: usize = 64;

/// Size, hash and first bytes of a written object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenObject {
    pub bytes: u64,
    pub sha256: [u8; 32],
    /// The first `HEAD_BYTES` bytes.
    pub head: Vec<u8>,
}

impl MediaStore {
    /// Writes an object of at most `bytes_max` bytes. The object is durable when this returns; if
    /// this fails, no object is left.
    pub async fn write<E: Display>(
        &self,
        object: Uuid,
        key: &ObjectKey,
        source: impl Stream<Item = Result<Bytes, E>>,
        bytes_max: u64,
    ) -> Result<WrittenObject, MediaError> {
        let cipher = ObjectCipher::new(key, object).map_err(|_| MediaError::Broken)?;
        let upload = self.objects.put_multipart(&self.object_path(object)).await?;
        let upload = WriteMultipart::new_with_chunk_size(upload, PART_BYTES);
        let mut sealing = SealedUpload {
            cipher,
            upload,
            piece: Vec::with_capacity(SEALED_BYTES),
            number: 0,
            written: WrittenObject { bytes: 0, sha256: [0; 32], head: Vec::new() },
            hasher: Sha256::new(),
        };
        match sealing.take_all(source, bytes_max).await {
            Ok(()) => sealing.finish().await,
            Err(error) => {
                // If the abort fails, the remainder is an orphan without a key, and the sweep
                // deletes it.
                let _ = sealing.upload.abort().await;
                Err(error)
            }
        }
    }
}

struct SealedUpload {
    cipher: ObjectCipher,
    upload: WriteMultipart,
    piece: Vec<u8>,
    number: u64,
    written: WrittenObject,
    hasher: Sha256,
}

impl SealedUpload {
    async fn take_all<E: Display>(
        &mut self,
        source: impl Stream<Item = Result<Bytes, E>>,
        bytes_max: u64,
    ) -> Result<(), MediaError> {
        let mut source = std::pin::pin!(source);
        while let Some(bytes) = source.next().await {
            let bytes = bytes.map_err(|error| MediaError::Source(error.to_string()))?;
            self.written.bytes += bytes.len() as u64;
            if bytes_max < self.written.bytes {
                return Err(MediaError::TooLarge(bytes_max));
            }
            self.hasher.update(&bytes);
            let room = HEAD_BYTES.saturating_sub(self.written.head.len()).min(bytes.len());
            self.written.head.extend_from_slice(&bytes[..room]);
            self.add(&bytes).await?;
        }
        if self.written.bytes == 0 {
            return Err(MediaError::Empty);
        }
        Ok(())
    }

    /// Keeps a full piece back until more bytes arrive, because the last piece is sealed as such.
    async fn add(&mut self, mut bytes: &[u8]) -> Result<(), MediaError> {
        while !bytes.is_empty() {
            if self.piece.len() == PIECE_BYTES {
                self.seal_piece(false).await?;
            }
            let (taken, rest) = bytes.split_at(bytes.len().min(PIECE_BYTES - self.piece.len()));
            self.piece.extend_from_slice(taken);
            bytes = rest;
        }
        Ok(())
    }

    async fn seal_piece(&mut self, is_last: bool) -> Result<(), MediaError> {
        let mut piece = std::mem::replace(&mut self.piece, Vec::with_capacity(SEALED_BYTES));
        let sealed = self.cipher.seal(&mut piece, self.number, is_last);
        sealed.map_err(|_| MediaError::Broken)?;
        self.number += 1;
        self.upload.wait_for_capacity(PARTS_AT_ONCE).await?;
        self.upload.put(Bytes::from(piece));
        Ok(())
    }

    async fn finish(mut self) -> Result<WrittenObject, MediaError> {
        self.seal_piece(true).await?;
        let SealedUpload { upload, mut written, hasher, .. } = self;
        upload.finish().await?;
        written.sha256 = hasher.finalize().into();
        Ok(written)
    }
}
