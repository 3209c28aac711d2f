//! Reading what was fetched: pages and documents, which whoever wrote them may have made to harm.

use bytes::Bytes;
use documents::Budget;
use futures_util::future::BoxFuture;
use pages::Page;
use tokio::sync::Semaphore;

/// Each keeps a core busy.
const READERS_MAX: usize = 4;

/// Reads hostile bytes somewhere. What could not be read is told in a sentence.
pub trait Reading: Send + Sync {
    fn page(
        &self,
        bytes: Bytes,
        content_type: Option<String>,
        address: String,
    ) -> BoxFuture<'_, Result<Page, String>>;

    fn document(&self, bytes: Bytes) -> BoxFuture<'_, Result<String, String>>;
}

/// Reads on threads of this process.
pub struct ReadHere {
    turns: Semaphore,
}

impl Default for ReadHere {
    fn default() -> ReadHere {
        ReadHere { turns: Semaphore::new(READERS_MAX) }
    }
}

impl ReadHere {
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let _turn = self.turns.acquire().await.map_err(|error| error.to_string())?;
        let read = tokio::task::spawn_blocking(work).await;
        read.unwrap_or_else(|_| Err("It could not be read.".to_owned()))
    }
}

impl Reading for ReadHere {
    fn page(
        &self,
        bytes: Bytes,
        content_type: Option<String>,
        address: String,
    ) -> BoxFuture<'_, Result<Page, String>> {
        Box::pin(self.run(move || {
            let html = pages::decode(&bytes, content_type.as_deref());
            pages::read(&html, &address).map_err(|fault| fault.0.to_owned())
        }))
    }

    fn document(&self, bytes: Bytes) -> BoxFuture<'_, Result<String, String>> {
        Box::pin(self.run(move || {
            documents::read(&bytes, &mut Budget::default()).map_err(|fault| fault.to_string())
        }))
    }
}
