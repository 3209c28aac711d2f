//! The list of all endpoints, in the order of the document.

mod api_keys;
mod audio;
pub(crate) mod billing;
mod chat;
mod completions;
pub(crate) mod crypto;
mod document;
mod embeddings;
mod inference_body;
mod lineup;
mod models;
mod responses;
mod tee;
mod x402;

use crate::endpoint::Endpoint;

pub(crate) fn all() -> Vec<Endpoint> {
    vec![
        chat::endpoint(),
        completions::endpoint(),
        responses::endpoint(),
        embeddings::endpoint(),
        audio::speech::endpoint(),
        audio::transcriptions::endpoint(),
        models::list::endpoint(),
        models::traits::endpoint(),
        models::compatibility::endpoint(),
        models::get::endpoint(),
        api_keys::list::endpoint(),
        api_keys::create::endpoint(),
        api_keys::change::endpoint(),
        api_keys::revoke::endpoint(),
        api_keys::rate_limits::endpoint(),
        api_keys::rate_limit_log::endpoint(),
        api_keys::rate_limit_log::alias(),
        api_keys::web3::token_endpoint(),
        api_keys::web3::key_endpoint(),
        api_keys::get::endpoint(),
        billing::balance::endpoint(),
        billing::usage::endpoint(),
        billing::history::endpoint(),
        billing::analytics::endpoint(),
        tee::attestation::endpoint(),
        tee::signature::endpoint(),
        x402::top_up::endpoint(),
        x402::balance::endpoint(),
        x402::transactions::endpoint(),
        crypto::networks::endpoint(),
        crypto::relay::endpoint(),
    ]
}
