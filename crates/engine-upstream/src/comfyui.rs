//! ComfyUI for images: uploads the input images, queues the workflow with its slots filled, and
//! downloads the output.

mod server;
mod workflow;

use std::sync::Arc;

use engine::{
    CutOutRequest, EditRequest, EngineError, ImageAnswer, ImageEngine, ImageFuture, ImageRequest,
    UpscaleRequest,
};
use serde::Deserialize;
use serde_json::Value;

pub(crate) use server::{ComfyFile, Server, reason};
pub use workflow::{Slot, Workflow, WorkflowFault};

use crate::job::{self, Stop};
use crate::picture;
use crate::transport::bad_answer;

/// One workflow of one server.
pub(crate) struct ComfyUi {
    pub(crate) server: Server,
    pub(crate) workflow: Workflow,
}

impl ImageEngine for ComfyUi {
    fn generate(&self, request: Arc<ImageRequest>) -> ImageFuture<'_> {
        Box::pin(async move {
            let size = request.frame.size;
            let mut values = vec![
                (Slot::Prompt, request.prompt.as_str().into()),
                (Slot::Seed, picture::seed(request.seed).into()),
                (Slot::Width, size.width.into()),
                (Slot::Height, size.height.into()),
            ];
            values.extend(self.negative_prompt(request.negative_prompt.as_deref()));
            values.extend(request.steps.map(|it| (Slot::Steps, it.into())));
            values.extend(request.cfg_scale.map(|it| (Slot::CfgScale, it.into())));
            let strength = request.adapter_strength.map(|it| f64::from(it) / 100.0);
            values.extend(strength.map(|it| (Slot::LoraStrength, it.into())));
            match request.style_references.as_slice() {
                [] => {}
                [style] => values.extend([
                    (Slot::StyleImage, self.server.upload_picture(&style.picture).await?),
                    (Slot::StyleStrength, style.strength.into()),
                ]),
                _ => {
                    let message = "This model takes one style reference.".to_owned();
                    return Err(EngineError::Rejected { message });
                }
            }
            self.run(&values).await
        })
    }

    fn edit(&self, request: Arc<EditRequest>) -> ImageFuture<'_> {
        Box::pin(async move {
            let size = request.frame.size;
            let mut values = vec![
                (Slot::Prompt, Value::from(request.prompt.as_str())),
                (Slot::Seed, picture::seed(request.seed).into()),
                (Slot::Width, size.width.into()),
                (Slot::Height, size.height.into()),
            ];
            values.extend(self.negative_prompt(None));
            for (slot, picture) in Slot::IMAGES.into_iter().zip(&request.pictures) {
                values.push((slot, self.server.upload_picture(picture).await?));
            }
            if let Some(mask) = &request.mask {
                values.push((Slot::Mask, self.server.upload_picture(mask).await?));
            }
            self.run(&values).await
        })
    }

    fn upscale(&self, request: Arc<UpscaleRequest>) -> ImageFuture<'_> {
        Box::pin(async move {
            let mut values = vec![
                (Slot::Image, self.server.upload_picture(&request.picture).await?),
                (Slot::Scale, request.scale.into()),
                (Slot::Width, request.size.width.into()),
                (Slot::Height, request.size.height.into()),
                (Slot::Prompt, request.prompt.as_deref().unwrap_or_default().into()),
            ];
            values.extend(request.creativity.map(|it| (Slot::Creativity, it.into())));
            self.run(&values).await
        })
    }

    fn cut_out(&self, request: Arc<CutOutRequest>) -> ImageFuture<'_> {
        Box::pin(async move {
            let image = self.server.upload_picture(&request.picture).await?;
            self.run(&[(Slot::Image, image)]).await
        })
    }

    fn takes_style_references(&self) -> bool {
        self.workflow.has(Slot::StyleImage)
    }

    fn can_be_stopped(&self) -> bool {
        true
    }
}

impl ComfyUi {
    /// Returns `None` if no negative prompt was sent and the workflow has a default.
    fn negative_prompt(&self, asked: Option<&str>) -> Option<(Slot, Value)> {
        let has_default = self.workflow.has_default(Slot::NegativePrompt);
        let text = asked.or((!has_default).then_some(""))?;
        Some((Slot::NegativePrompt, text.into()))
    }

    async fn run(&self, values: &[(Slot, Value)]) -> Result<ImageAnswer, EngineError> {
        let id = self.server.submit(self.workflow.filled(values, image_field)?).await?;
        let server = self.server.clone();
        let to_stop = id.clone();
        let stop = Stop::with(async move { server.stop(&to_stop).await });
        let made = job::outcome(self.server.history.timeouts.answer, || async {
            read(&self.server.told_of(&id).await?, &id)
        });
        let made = made.await;
        if !matches!(made, Err(EngineError::Timeout { .. })) {
            stop.disarm();
        }
        let file = self.server.view.fetch(&made?.address()).await?;
        Ok(ImageAnswer { file, ..ImageAnswer::default() })
    }
}

/// The request field that fills a slot.
fn image_field(slot: Slot) -> &'static str {
    match slot {
        Slot::StyleImage | Slot::StyleStrength => "style_references",
        Slot::Creativity => "enhanceCreativity",
        other => other.name(),
    }
}

/// The output file of a job from its history entry; `None` while the job is running. Temporary
/// previews are used only if no node saved an output file.
pub(crate) fn read(body: &[u8], id: &str) -> Result<Option<ComfyFile>, EngineError> {
    let history: Value = parse(body)?;
    let Some(job) = history.get(id) else { return Ok(None) };
    if job["status"]["status_str"] == "error" {
        return Err(bad_answer(format!("its workflow failed: {}", reason(&job["status"]))));
    }
    let nodes = job["outputs"].as_object().into_iter().flatten();
    let files = nodes.flat_map(|(_, node)| node["images"].as_array().into_iter().flatten());
    let mut files: Vec<ComfyFile> =
        files.filter_map(|file| serde_json::from_value(file.clone()).ok()).collect();
    files.sort_by_key(|file| file.kind != "output");
    let first = files.into_iter().next();
    first.map(Some).ok_or_else(|| bad_answer("its workflow put out no picture"))
}

fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, EngineError> {
    serde_json::from_slice(body).map_err(|error| bad_answer(format!("it is not JSON: {error}")))
}
