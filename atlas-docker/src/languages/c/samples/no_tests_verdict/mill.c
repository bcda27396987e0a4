int mill;
