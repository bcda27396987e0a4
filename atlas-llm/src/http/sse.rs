//! Server-sent events, as far as model APIs use them.

/// Cuts a stream of bytes into the data of its events. Pieces may end anywhere, also within a
/// letter or between the two characters of a line's end.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    data: Option<Vec<u8>>,
    after_return: bool,
}

impl Events {
    /// The data of the events that end in this piece.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut events = Vec::new();
        for &byte in bytes {
            let ends = match byte {
                b'\n' if self.after_return => {
                    self.after_return = false;
                    continue;
                }
                b'\n' | b'\r' => true,
                _ => false,
            };
            self.after_return = byte == b'\r';
            if ends {
                events.extend(self.end_line());
            } else {
                self.line.push(byte);
            }
        }
        events
    }

    /// The data of an event that the stream ended in. Some servers leave out the last empty line.
    pub(super) fn finish(&mut self) -> Option<String> {
        self.end_line().or_else(|| self.end_line())
    }

    /// How many bytes are held back.
    pub(super) fn len(&self) -> usize {
        self.line.len() + self.data.as_ref().map_or(0, Vec::len)
    }

    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let data = self.data.take()?;
            return Some(String::from_utf8_lossy(&data).into_owned());
        }
        // Every other field (event, id, retry) and comments say nothing that the data does not.
        if let Some(value) = line.strip_prefix(b"data:") {
            let value = value.strip_prefix(b" ").unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Events;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_may_end_anywhere(cuts in prop::collection::vec(0_usize..64, 0..8)) {
            let stream = "data: {\"a\":\"é\"}\r\n\r\n: ping\n\ndata:x\ndata: y\n\ndata: [DONE]".as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|at| at.min(stream.len())).collect();
            cuts.extend([0, stream.len()]);
            cuts.sort_unstable();
            let mut events = Events::default();
            let mut seen = Vec::new();
            for pair in cuts.windows(2) {
                seen.extend(events.push(&stream[pair[0]..pair[1]]));
            }
            seen.extend(events.finish());
            prop_assert_eq!(seen, ["{\"a\":\"é\"}", "x\ny", "[DONE]"]);
        }
    }
}
