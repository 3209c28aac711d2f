//! A store whose process dies before or after it commits a group.

use std::sync::Arc;

use store::intercept::StoreInterceptor;
use store::write::WriteGroup;
use store::{CommitFuture, Store};

use super::script::Script;

pub(super) struct Crashing(pub(super) Arc<Script>);

impl StoreInterceptor for Crashing {
    fn commit(&self, inner: &Arc<dyn Store>, group: WriteGroup) -> CommitFuture {
        let (inner, chain) = (Arc::clone(inner), Arc::clone(&self.0));
        Box::pin(async move {
            chain.crash.point().await;
            let committed = inner.commit(group).await;
            chain.crash.point().await;
            committed
        })
    }
}
