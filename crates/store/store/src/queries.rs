//! The queries of a store: one trait for each subject.

mod access;
mod batches;
mod characters;
mod claims;
mod evidence;
mod jobs;
mod ledger;
mod media;
mod responses;
mod rpc;
mod usage;

pub use access::AccessStore;
pub use batches::BatchStore;
pub use characters::CharacterStore;
pub use claims::ClaimStore;
pub use evidence::EvidenceStore;
pub use jobs::JobStore;
pub use ledger::LedgerStore;
pub use media::MediaRowStore;
pub use responses::ResponseStore;
pub use rpc::RpcStore;
pub use usage::UsageStore;
