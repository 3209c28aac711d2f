//! The JSON-RPC proxy to chain nodes.

pub(super) mod networks;
pub(super) mod relay;

pub(crate) mod keyed;
mod limits;
mod relayed;
mod work;
