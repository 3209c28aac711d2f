//! Text Embeddings Inference, for reranking: splits the documents to the server's limit. Its
//! embeddings have OpenAI's protocol.

use std::sync::Arc;

use engine::{EngineError, EngineUsage, RerankAnswer, RerankEngine, RerankRequest};
use futures_util::future::BoxFuture;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Serialize;

use crate::rank_scores::{collect_scores, read_only_usage};
use crate::transport::{UpstreamEndpoint, bad_answer};

/// Concurrent batches per request.
const BATCHES_AT_ONCE: usize = 4;
/// The header with the tokens that the model read.
const TOKENS_HEADER: &str = "x-compute-tokens";

/// One server, which has one model.
pub(crate) struct TeiRerank {
    pub(crate) endpoint: UpstreamEndpoint,
    /// The server's maximum of documents per request.
    pub(crate) documents_max: usize,
}

impl RerankEngine for TeiRerank {
    fn rerank(
        &self,
        request: Arc<RerankRequest>,
    ) -> BoxFuture<'_, Result<RerankAnswer, EngineError>> {
        Box::pin(async move {
            let bodies = encode_batches(&request, self.documents_max)?;
            let asked = bodies.into_iter().map(|batch| self.rank_batch(batch));
            let answers = stream::iter(asked).buffered(BATCHES_AT_ONCE);
            Ok(join_batches(answers.try_collect().await?))
        })
    }
}

impl TeiRerank {
    async fn rank_batch(&self, batch: RankBatch) -> Result<RerankAnswer, EngineError> {
        let answer = self.endpoint.post_json_for_header(batch.body, TOKENS_HEADER).await?;
        let entries = serde_json::from_slice(&answer.body)
            .map_err(|error| bad_answer(format!("it is not a list of ranks: {error}")))?;
        let tokens = answer.header.as_deref().and_then(|it| it.trim().parse::<f64>().ok());
        let scores = collect_scores(entries, batch.documents)?;
        Ok(RerankAnswer { scores, usage: tokens.and_then(read_only_usage) })
    }
}

/// A request body, with the number of its documents.
struct RankBatch {
    body: Vec<u8>,
    documents: usize,
}

#[derive(Serialize)]
struct RankRequestBody<'a> {
    query: &'a str,
    texts: &'a [String],
    raw_scores: bool,
    return_text: bool,
    truncate: bool,
}

fn encode_batches(
    request: &RerankRequest,
    documents_max: usize,
) -> Result<Vec<RankBatch>, EngineError> {
    let mut batches = Vec::new();
    for texts in request.documents.chunks(documents_max.max(1)) {
        let body = RankRequestBody {
            query: &request.query,
            texts,
            raw_scores: false,
            return_text: false,
            truncate: request.truncate,
        };
        let body = serde_json::to_vec(&body).map_err(|error| EngineError::Rejected {
            message: format!("The documents cannot be written as JSON: {error}"),
        })?;
        batches.push(RankBatch { body, documents: texts.len() });
    }
    Ok(batches)
}

/// Joins all batches. The usage is `None` if any batch has none.
fn join_batches(answers: Vec<RerankAnswer>) -> RerankAnswer {
    let mut scores = Vec::new();
    let mut usage = Some(EngineUsage::default());
    for answer in answers {
        scores.extend(answer.scores);
        usage = usage.zip(answer.usage).map(|(sum, next)| sum.plus_request(next));
    }
    RerankAnswer { scores, usage }
}
