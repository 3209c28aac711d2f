//! Image operations of the built-in engine beyond OpenAI's protocol: requests are forms, responses
//! a PNG or a score.

use engine::{EngineError, ImageAnswer, Picture, PictureJudge, PictureSize};
use futures_util::future::BoxFuture;
use outbound::{Content, FormFile};
use serde::Deserialize;

use crate::transport::{Endpoint, bad_answer};

pub(crate) struct PictureTools {
    pub(crate) upscales: Endpoint,
    pub(crate) cutouts: Endpoint,
}

impl PictureTools {
    pub(crate) async fn upscale(
        &self,
        model: &str,
        picture: &Picture,
        size: PictureSize,
    ) -> Result<ImageAnswer, EngineError> {
        let size = ("size", format!("{}x{}", size.width, size.height));
        let fields = [("model", model.to_owned()), size];
        let file = self.upscales.ask_with(form(&fields, picture)).await?;
        Ok(ImageAnswer { file, ..ImageAnswer::default() })
    }

    pub(crate) async fn cut_out(
        &self,
        model: &str,
        picture: &Picture,
    ) -> Result<ImageAnswer, EngineError> {
        let fields = [("model", model.to_owned())];
        let file = self.cutouts.ask_with(form(&fields, picture)).await?;
        Ok(ImageAnswer { file, ..ImageAnswer::default() })
    }
}

/// The image classifier of the built-in engine.
pub(crate) struct BuiltInJudge {
    pub(crate) safety: Endpoint,
    pub(crate) model: String,
}

#[derive(Deserialize)]
struct Verdict {
    adult: f64,
}

impl PictureJudge for BuiltInJudge {
    fn adult_score(&self, picture: Picture) -> BoxFuture<'_, Result<f64, EngineError>> {
        Box::pin(async move {
            let fields = [("model", self.model.clone())];
            let answer = self.safety.ask_with(form(&fields, &picture)).await?;
            let verdict: Verdict = serde_json::from_slice(&answer)
                .map_err(|error| bad_answer(format!("it is no verdict: {error}")))?;
            Ok(verdict.adult)
        })
    }
}

fn form(fields: &[(&'static str, String)], picture: &Picture) -> Content {
    let name = format!("image.{}", picture.kind.extension);
    let (mime, bytes) = (picture.kind.mime, picture.bytes.clone());
    Content::form_of_files(fields, &[("image", FormFile { name: &name, mime, bytes })])
}
