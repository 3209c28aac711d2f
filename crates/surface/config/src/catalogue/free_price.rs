//! `free = true`: a price of zero, in the price format of each type.

use domain::catalogue::ModelType;

use crate::fault::FaultList;
use crate::node::{ConfigNode, ConfigTable, ConfigValue};

/// Returns the entry with a price of zero; None if the model is not free.
pub(super) fn with_zero_price(
    table: &ConfigTable,
    model_type: ModelType,
    faults: &FaultList,
) -> Option<ConfigTable> {
    let free = table.get("free").filter(|node| node.value == ConfigValue::Flag(true))?;
    if table.get("price").is_some() {
        let message = "`free = true` and `price` contradict each other; leave one of them out";
        faults.push(&free.origin, message);
        return None;
    }
    let amount =
        || ConfigNode { value: ConfigValue::Text("0".to_owned()), origin: free.origin.clone() };
    let mut price = ConfigTable::default();
    for name in amounts_of(model_type) {
        price.insert(name, amount());
    }
    let mut filled_in = table.clone();
    filled_in.insert(
        "price",
        ConfigNode { value: ConfigValue::Table(price), origin: free.origin.clone() },
    );
    Some(filled_in)
}

/// The price keys to set to zero for this type.
fn amounts_of(model_type: ModelType) -> &'static [&'static str] {
    match model_type {
        ModelType::Text | ModelType::Embedding => {
            &["input_usd_per_million", "output_usd_per_million"]
        }
        ModelType::Rerank | ModelType::Moderation => &["input_usd_per_million"],
        ModelType::Image | ModelType::Upscale => {
            &["per_image_usd", "upscale_2x_usd", "upscale_4x_usd"]
        }
        ModelType::Inpaint => &["per_edit_usd"],
        ModelType::Tts => &["input_usd_per_million_characters"],
        ModelType::Asr => &["usd_per_audio_second"],
        ModelType::Music | ModelType::Video => &["per_generation_usd"],
    }
}
