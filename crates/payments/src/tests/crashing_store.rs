//! A store whose process dies before or after it commits a group.

use std::sync::Arc;

use store::intercept::Intercept;
use store::write::Group;
use store::{Commit, Store};

use super::script::Script;

pub(super) struct Crashing(pub(super) Arc<Script>);

impl Intercept for Crashing {
    fn commit(&self, inner: &Arc<dyn Store>, group: Group) -> Commit {
        let (inner, chain) = (Arc::clone(inner), Arc::clone(&self.0));
        Box::pin(async move {
            chain.crash.point().await;
            let committed = inner.commit(group).await;
            chain.crash.point().await;
            committed
        })
    }
}
