//! The JSON-RPC proxy to chain nodes.

pub(super) mod networks;
pub(super) mod relay;

mod limits;
mod reply;
mod work;

const PATH: &str = "/crypto/rpc/{network}";
