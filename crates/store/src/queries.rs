//! The queries of a store: one trait for each subject.

mod access;
mod books;
mod characters;
mod claims;
mod evidence;
mod jobs;
mod media;
mod rpc;
mod usage;

pub use access::AccessStore;
pub use books::BookStore;
pub use characters::CharacterStore;
pub use claims::ClaimStore;
pub use evidence::EvidenceStore;
pub use jobs::JobStore;
pub use media::MediaRowStore;
pub use rpc::RpcStore;
pub use usage::UsageStore;
