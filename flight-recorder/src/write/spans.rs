//! Which span of the program a pin lies in, told as `request{path=/orders}:query`, so that a pin shows the
//! request it belonged to in every reader.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::store::ProgramRecord;

/// Spans in spans that are told; a deeper pin shows its innermost ones.
const MAX_DEPTH: usize = 8;

/// The spans that a recording knows. Ids are used again after a span has closed, so each has its time.
#[derive(Debug, Default)]
pub(crate) struct Spans(HashMap<u64, Vec<Known>, RandomState>);

#[derive(Debug)]
struct Known {
    start: u64,
    end: u64,
    parent: u64,
    text: String,
}

impl Spans {
    /// Of records of closed and of open spans; those of events are left out.
    pub(crate) fn of<'a>(records: impl Iterator<Item = &'a ProgramRecord>) -> Self {
        let mut spans = Self::default();
        for record in records {
            let Some(duration) = record.duration else {
                continue;
            };
            let length = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
            let text = match &*record.fields {
                "" => record.text.to_string(),
                fields => format!("{}{{{fields}}}", record.text),
            };
            spans.0.entry(record.span).or_default().push(Known {
                start: record.at.0,
                end: record.at.0.saturating_add(length),
                parent: record.parent,
                text,
            });
        }
        spans
    }

    /// The span with this id at that moment, behind those it lies in; `None` where it is not known.
    pub(super) fn text(&self, mut id: u64, at: u64) -> Option<String> {
        let mut parts = Vec::new();
        while parts.len() < MAX_DEPTH
            && let Some(known) = self.find(id, at)
        {
            parts.push(known.text.as_str());
            id = known.parent;
        }
        parts.reverse();
        (!parts.is_empty()).then(|| parts.join(":"))
    }

    fn find(&self, id: u64, at: u64) -> Option<&Known> {
        let with_id = self.0.get(&id)?;
        with_id
            .iter()
            .find(|known| (known.start..=known.end).contains(&at))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use vt_runtime::event::Timestamp;

    use super::*;

    fn span(id: u64, parent: u64, at: u64, length: u64, text: &str, fields: &str) -> ProgramRecord {
        ProgramRecord {
            at: Timestamp(at),
            duration: Some(Duration::from_nanos(length)),
            thread: 1,
            thread_name: "vt-0".into(),
            span: id,
            parent,
            level: "INFO",
            target: "shop".into(),
            text: text.into(),
            fields: fields.into(),
        }
    }

    #[test]
    fn a_span_is_told_behind_its_parents_and_by_its_time() {
        let records = [
            span(1, 0, 100, 50, "request", "path=/orders"),
            span(2, 1, 110, 20, "query", ""),
            // The same number, used again later.
            span(2, 0, 200, 10, "other", ""),
        ];
        let spans = Spans::of(records.iter());
        assert_eq!(
            spans.text(2, 115).as_deref(),
            Some("request{path=/orders}:query")
        );
        assert_eq!(spans.text(2, 205).as_deref(), Some("other"));
        assert_eq!(spans.text(2, 150), None);
        assert_eq!(spans.text(9, 115), None);
    }

    #[test]
    fn a_circle_of_parents_ends() {
        let records = [span(1, 2, 0, 9, "a", ""), span(2, 1, 0, 9, "b", "")];
        let text = Spans::of(records.iter()).text(1, 5).unwrap_or_default();
        assert_eq!(text, "b:a:b:a:b:a:b:a");
    }
}
