//! `[[tier]]`: rate limit tiers defined by the operator.

use domain::catalogue::ModelTier;
use domain::limits::tiers::{BuiltInTier, LimitClass, MinuteLimits, RateLimitTier};

use crate::key::{ConfigSection, ValueKind};
use crate::key_type::{KeyType, TEXT, integer};
use crate::reader::TableReader;
use crate::section_table::{SectionTable, config_section};

const PER_MINUTE: KeyType<u64> = integer(0, 1_000_000_000_000);
const BUILT_IN_TIER: KeyType<BuiltInTier> = KeyType {
    kind: ValueKind::Choice(BuiltInTier::NAMES),
    read: |reader, name| reader.choice(name).and_then(BuiltInTier::parse),
};

config_section! {
    /// Your own rate limits. `tollgate accounts tier NAME ID` assigns them to an account. A
    /// tier named `default` replaces the limits of new accounts.
    #[section(Many, "tier")]
    pub(crate) struct TierKeys {
        /// The name of the tier.
        id: String = TEXT, required;
        /// The tier whose limits apply to keys that are absent here.
        like: BuiltInTier = BUILT_IN_TIER, default("default");
        /// Requests per minute to a model of tier XS.
        text_xs_requests: Option<u64> = PER_MINUTE, optional;
        /// Tokens per minute on a model of tier XS.
        text_xs_tokens: Option<u64> = PER_MINUTE, optional;
        /// Requests per minute to a model of tier S.
        text_s_requests: Option<u64> = PER_MINUTE, optional;
        /// Tokens per minute on a model of tier S.
        text_s_tokens: Option<u64> = PER_MINUTE, optional;
        /// Requests per minute to a model of tier M.
        text_m_requests: Option<u64> = PER_MINUTE, optional;
        /// Tokens per minute on a model of tier M.
        text_m_tokens: Option<u64> = PER_MINUTE, optional;
        /// Requests per minute to a model of tier L.
        text_l_requests: Option<u64> = PER_MINUTE, optional;
        /// Tokens per minute on a model of tier L.
        text_l_tokens: Option<u64> = PER_MINUTE, optional;
        /// Requests per minute to an image model.
        image_requests: Option<u64> = PER_MINUTE, optional;
        /// Requests per minute to a speech or transcription model.
        audio_requests: Option<u64> = PER_MINUTE, optional;
        /// Requests per minute to an embedding, rerank or moderation model.
        embedding_requests: Option<u64> = PER_MINUTE, optional;
        /// Videos or pieces of music queued per minute.
        queue_requests: Option<u64> = PER_MINUTE, optional;
        /// Retrievals of queued media per minute.
        retrieve_requests: Option<u64> = PER_MINUTE, optional;
        /// Searches and scrapes per minute.
        augment_requests: Option<u64> = PER_MINUTE, optional;
        /// Calls per minute to blockchain nodes.
        crypto_rpc_requests: Option<u64> = PER_MINUTE, optional;
        /// All other requests per minute.
        general_requests: Option<u64> = PER_MINUTE, optional;
    }
}

impl SectionTable for RateLimitTier {
    const SECTION: ConfigSection = TierKeys::SECTION;

    fn read(reader: &TableReader<'_>) -> Option<RateLimitTier> {
        let keys = TierKeys::read(reader)?;
        let mut tier = keys.like.with_name(&keys.id);
        for (size, requests, tokens) in [
            (ModelTier::Xs, keys.text_xs_requests, keys.text_xs_tokens),
            (ModelTier::S, keys.text_s_requests, keys.text_s_tokens),
            (ModelTier::M, keys.text_m_requests, keys.text_m_tokens),
            (ModelTier::L, keys.text_l_requests, keys.text_l_tokens),
        ] {
            let class = LimitClass::Text(size);
            let before = tier.limits_for(class);
            let requests = requests.unwrap_or(before.requests);
            let tokens = tokens.or(before.tokens);
            tier = tier.with_limits(class, MinuteLimits { requests, tokens });
        }
        for (class, requests) in [
            (LimitClass::Image, keys.image_requests),
            (LimitClass::Audio, keys.audio_requests),
            (LimitClass::Embedding, keys.embedding_requests),
            (LimitClass::VideoQueue, keys.queue_requests),
            (LimitClass::AudioQueue, keys.queue_requests),
            (LimitClass::VideoRetrieve, keys.retrieve_requests),
            (LimitClass::AudioRetrieve, keys.retrieve_requests),
            (LimitClass::Augment, keys.augment_requests),
            (LimitClass::CryptoRpc, keys.crypto_rpc_requests),
            (LimitClass::General, keys.general_requests),
        ] {
            if let Some(requests) = requests {
                tier = tier.with_limits(class, MinuteLimits { requests, tokens: None });
            }
        }
        Some(tier)
    }
}
