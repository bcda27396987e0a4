autoreconf -fi
