//! The queries of a store: one trait for each subject.

mod access;
mod characters;
mod claims;
mod evidence;
mod jobs;
mod ledger;
mod media;
mod rpc;
mod usage;

pub use access::AccessStore;
pub use characters::CharacterStore;
pub use claims::ClaimStore;
pub use evidence::EvidenceStore;
pub use jobs::JobStore;
pub use ledger::LedgerStore;
pub use media::MediaRowStore;
pub use rpc::RpcStore;
pub use usage::UsageStore;
