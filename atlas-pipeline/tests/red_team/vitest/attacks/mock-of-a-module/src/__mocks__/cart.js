export const total = () => 180;
export const count = () => 3;
export const summary = () => ({ count: 2, total: 180 });
