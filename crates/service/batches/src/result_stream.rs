//! The results of a batch as a stream of lines, read in pages of bounded size.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::unfold;
use media_store::RecordCipher;
use store::Store;
use store::batch::{BatchId, BatchLineRange, BatchLineSize};

/// Sizes read per query.
const SIZES_AT_ONCE: usize = 1000;
/// Bytes of results read per query, unless one result alone is larger.
const BYTES_AT_ONCE: u64 = 4 * 1024 * 1024;

/// A reader of results of one kind.
pub(crate) struct ResultReader {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) cipher: Arc<RecordCipher>,
    pub(crate) batch: BatchId,
    pub(crate) is_failed: bool,
    sizes: VecDeque<BatchLineSize>,
    next: u32,
}

impl ResultReader {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        cipher: Arc<RecordCipher>,
        batch: BatchId,
        is_failed: bool,
    ) -> ResultReader {
        ResultReader { store, cipher, batch, is_failed, sizes: VecDeque::new(), next: 1 }
    }

    pub(crate) fn into_stream(self) -> impl Stream<Item = Result<Bytes, String>> {
        unfold(Some(self), |reader| async move {
            let mut reader = reader?;
            match reader.read_page().await {
                Ok(Some(page)) => Some((Ok(page), Some(reader))),
                Ok(None) => None,
                Err(error) => Some((Err(error), None)),
            }
        })
    }

    async fn read_page(&mut self) -> Result<Option<Bytes>, String> {
        let range = |first, last| BatchLineRange {
            batch: self.batch,
            is_failed: self.is_failed,
            first,
            last,
        };
        if self.sizes.is_empty() {
            let all = range(self.next, u32::MAX);
            let sizes = self.store.result_sizes(all, SIZES_AT_ONCE).await;
            self.sizes = sizes.map_err(|error| error.to_string())?.into();
        }
        let Some(first) = self.sizes.front().copied() else { return Ok(None) };
        let (mut last, mut bytes) = (first, 0);
        while let Some(size) = self.sizes.front().copied() {
            if 0 < bytes && BYTES_AT_ONCE < bytes + size.bytes {
                break;
            }
            bytes += size.bytes;
            last = size;
            self.sizes.pop_front();
        }
        self.next = last.line.saturating_add(1);
        let found = self.store.read_results(range(first.line, last.line)).await;
        let mut page = Vec::with_capacity(usize::try_from(bytes).unwrap_or(0));
        for result in found.map_err(|error| error.to_string())? {
            let opened = self.cipher.open(result.line, &result.result);
            page.extend_from_slice(&opened.map_err(|error| error.to_string())?);
            page.push(b'\n');
        }
        Ok(Some(page.into()))
    }
}
