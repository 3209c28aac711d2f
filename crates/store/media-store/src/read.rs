//! Reads an object, or a range of it.

use std::ops::Range;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt};
use object_store::ObjectStoreExt;
use uuid::Uuid;

use crate::cipher::{ObjectCipher, ObjectKey, PIECE_BYTES, SEALED_BYTES};
use crate::store::{MediaError, MediaStore};

/// Pieces per read: 1 MiB, which is also what a slow reader keeps in memory.
const PIECES_AT_ONCE: u64 = 16;

struct ObjectReader {
    store: MediaStore,
    object: Uuid,
    cipher: ObjectCipher,
    /// Plaintext bytes of the whole object.
    bytes: u64,
    /// The plaintext range still to be read.
    rest: Range<u64>,
}

impl MediaStore {
    /// Reads `range` of an object that has `bytes` bytes. A range beyond the end is cut.
    pub fn read(
        &self,
        object: Uuid,
        key: &ObjectKey,
        bytes: u64,
        range: Range<u64>,
    ) -> Result<BoxStream<'static, Result<Bytes, MediaError>>, MediaError> {
        let cipher = ObjectCipher::new(key, object).map_err(|_| MediaError::Broken)?;
        let rest = range.start.min(bytes)..range.end.min(bytes);
        let reading = ObjectReader { store: self.clone(), object, cipher, bytes, rest };
        let next = |mut reading: ObjectReader| async move {
            if reading.rest.is_empty() {
                return None;
            }
            let read = reading.next().await;
            if read.is_err() {
                reading.rest = 0..0;
            }
            Some((read, reading))
        };
        Ok(stream::unfold(reading, next).boxed())
    }
}

impl ObjectReader {
    async fn next(&mut self) -> Result<Bytes, MediaError> {
        let piece_bytes = PIECE_BYTES as u64;
        let first = self.rest.start / piece_bytes;
        let last = (self.bytes - 1) / piece_bytes;
        let until = ((self.rest.end - 1) / piece_bytes).min(first + PIECES_AT_ONCE - 1);
        let sealed_end = if until == last {
            // The last piece may be short.
            self.bytes + (last + 1) * (SEALED_BYTES - PIECE_BYTES) as u64
        } else {
            (until + 1) * SEALED_BYTES as u64
        };
        let sealed = first * SEALED_BYTES as u64..sealed_end;
        let place = self.store.object_path(self.object);
        let sealed_length = sealed.end - sealed.start;
        let found = self.store.objects.get_range(&place, sealed).await?;
        if found.len() as u64 != sealed_length {
            return Err(MediaError::Broken);
        }
        let mut plain = Vec::with_capacity(found.len());
        for (number, piece) in (first..).zip(found.chunks(SEALED_BYTES)) {
            let mut piece = piece.to_vec();
            let opened = self.cipher.open(&mut piece, number, number == last);
            opened.map_err(|_| MediaError::Broken)?;
            plain.extend_from_slice(&piece);
        }
        let offset = self.rest.start - first * piece_bytes;
        let wanted = (self.rest.end - self.rest.start).min(plain.len() as u64 - offset);
        self.rest.start += wanted;
        let cut =
            usize::try_from(offset).unwrap_or(0)..usize::try_from(offset + wanted).unwrap_or(0);
        Ok(Bytes::from(plain).slice(cut))
    }
}
