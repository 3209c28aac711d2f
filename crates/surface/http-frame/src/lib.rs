//! The path of every request to the API, without the endpoints.
//!
//! A request's path: [`transport`] accepts it and assigns an id, [`call`] authenticates the
//! [`caller`], reads the [`input`] and applies the limits, a handler of the crate `api` does the
//! work, paid through [`paid_work`] or [`paid_chat`], and a [`reply`] or a [`refusal`] is sent back.
//! [`endpoint`] declares a handler's route.
//!
//! Only this crate and `api` know HTTP statuses and headers.

pub mod anonymous_limits;
pub mod app;
pub mod background_runs;
pub mod base_paths;
pub mod batch_line;
pub mod call;
pub mod call_terms;
pub mod caller;
pub mod caller_limits;
mod detach_on_drop;
pub mod discovery;
pub mod endpoint;
pub mod engines;
pub mod event_stream;
mod failed_call;
pub mod home;
pub mod hosts;
pub mod inner_call;
pub mod input;
pub mod key_lookups;
mod keyed_outcome;
pub mod keyed_work;
pub mod mcp_access;
pub mod mcp_caller;
pub mod metering_faults;
pub mod model_headers;
pub mod nodes;
pub mod operation;
pub mod origin;
pub mod paid_chat;
pub mod paid_work;
pub mod payment;
pub mod principal;
pub mod proxy;
pub mod recent_errors;
pub mod refusal;
pub mod reply;
pub mod request_head;
pub mod request_id;
pub mod session;
pub mod session_state;
pub mod settings;
pub mod static_content;
pub mod stored_caller;
pub mod transport;
mod upstream_answer_ids;
pub mod version;
pub mod wallet_challenge;
pub mod wallet_sign_in;
pub mod wallets;
pub mod web;
pub mod work_session;
