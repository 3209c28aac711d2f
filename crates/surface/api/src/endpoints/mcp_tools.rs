//! Tools of MCP servers that the service calls for a model, in `/responses` and `/messages`.
//!
//! Servers are chosen ([`server_choice`]) and their tools listed ([`listing`]) before money is held.
//! The [`runner`] then makes the calls between the turns of the model. [`pins`] prove lists and
//! approvals that callers send back.

pub(super) mod function_name;
pub(super) mod listing;
pub(super) mod pins;
pub(super) mod runner;
pub(super) mod server_choice;
