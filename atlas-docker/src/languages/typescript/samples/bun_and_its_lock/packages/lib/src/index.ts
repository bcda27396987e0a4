export const rooms = 3;
