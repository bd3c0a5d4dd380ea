interface I0 { a0: number }
function f0(x: I0): number { return x.a0 + 0; }
interface I1 { a1: number }
function f1(x: I1): number { return x.a1 + 1; }
interface I2 { a2: number }
function f2(x: I2): number { return x.a2 + 2; }
interface I3 { a3: number }
function f3(x: I3): number { return x.a3 + 3; }
interface I4 { a4: number }
function f4(x: I4): number { return x.a4 + 4; }
interface I5 { a5: number }
function f5(x: I5): number { return x.a5 + 5; }
interface I6 { a6: number }
function f6(x: I6): number { return x.a6 + 6; }
interface I7 { a7: number }
function f7(x: I7): number { return x.a7 + 7; }
interface I8 { a8: number }
function f8(x: I8): number { return x.a8 + 8; }
interface I9 { a9: number }
function f9(x: I9): number { return x.a9 + 9; }
interface I10 { a10: number }
function f10(x: I10): number { return x.a10 + 10; }
interface I11 { a11: number }
function f11(x: I11): number { return x.a11 + 11; }
interface I12 { a12: number }
function f12(x: I12): number { return x.a12 + 12; }
interface I13 { a13: number }
function f13(x: I13): number { return x.a13 + 13; }
interface I14 { a14: number }
function f14(x: I14): number { return x.a14 + 14; }
interface I15 { a15: number }
function f15(x: I15): number { return x.a15 + 15; }
interface I16 { a16: number }
function f16(x: I16): number { return x.a16 + 16; }
interface I17 { a17: number }
function f17(x: I17): number { return x.a17 + 17; }
interface I18 { a18: number }
function f18(x: I18): number { return x.a18 + 18; }
interface I19 { a19: number }
function f19(x: I19): number { return x.a19 + 19; }
interface I20 { a20: number }
function f20(x: I20): number { return x.a20 + 20; }
interface I21 { a21: number }
function f21(x: I21): number { return x.a21 + 21; }
interface I22 { a22: number }
function f22(x: I22): number { return x.a22 + 22; }
interface I23 { a23: number }
function f23(x: I23): number { return x.a23 + 23; }
interface I24 { a24: number }
function f24(x: I24): number { return x.a24 + 24; }
interface I25 { a25: number }
function f25(x: I25): number { return x.a25 + 25; }
interface I26 { a26: number }
function f26(x: I26): number { return x.a26 + 26; }
interface I27 { a27: number }
function f27(x: I27): number { return x.a27 + 27; }
interface I28 { a28: number }
function f28(x: I28): number { return x.a28 + 28; }
interface I29 { a29: number }
function f29(x: I29): number { return x.a29 + 29; }
interface I30 { a30: number }
function f30(x: I30): number { return x.a30 + 30; }
interface I31 { a31: number }
function f31(x: I31): number { return x.a31 + 31; }
interface I32 { a32: number }
function f32(x: I32): number { return x.a32 + 32; }
interface I33 { a33: number }
function f33(x: I33): number { return x.a33 + 33; }
interface I34 { a34: number }
function f34(x: I34): number { return x.a34 + 34; }
interface I35 { a35: number }
function f35(x: I35): number { return x.a35 + 35; }
interface I36 { a36: number }
function f36(x: I36): number { return x.a36 + 36; }
interface I37 { a37: number }
function f37(x: I37): number { return x.a37 + 37; }
interface I38 { a38: number }
function f38(x: I38): number { return x.a38 + 38; }
interface I39 { a39: number }
function f39(x: I39): number { return x.a39 + 39; }
interface I40 { a40: number }
function f40(x: I40): number { return x.a40 + 40; }
interface I41 { a41: number }
function f41(x: I41): number { return x.a41 + 41; }
interface I42 { a42: number }
function f42(x: I42): number { return x.a42 + 42; }
interface I43 { a43: number }
function f43(x: I43): number { return x.a43 + 43; }
interface I44 { a44: number }
function f44(x: I44): number { return x.a44 + 44; }
interface I45 { a45: number }
function f45(x: I45): number { return x.a45 + 45; }
interface I46 { a46: number }
function f46(x: I46): number { return x.a46 + 46; }
interface I47 { a47: number }
function f47(x: I47): number { return x.a47 + 47; }
interface I48 { a48: number }
function f48(x: I48): number { return x.a48 + 48; }
interface I49 { a49: number }
function f49(x: I49): number { return x.a49 + 49; }
interface I50 { a50: number }
function f50(x: I50): number { return x.a50 + 50; }
interface I51 { a51: number }
function f51(x: I51): number { return x.a51 + 51; }
interface I52 { a52: number }
function f52(x: I52): number { return x.a52 + 52; }
interface I53 { a53: number }
function f53(x: I53): number { return x.a53 + 53; }
interface I54 { a54: number }
function f54(x: I54): number { return x.a54 + 54; }
interface I55 { a55: number }
function f55(x: I55): number { return x.a55 + 55; }
interface I56 { a56: number }
function f56(x: I56): number { return x.a56 + 56; }
interface I57 { a57: number }
function f57(x: I57): number { return x.a57 + 57; }
interface I58 { a58: number }
function f58(x: I58): number { return x.a58 + 58; }
interface I59 { a59: number }
function f59(x: I59): number { return x.a59 + 59; }
interface I60 { a60: number }
function f60(x: I60): number { return x.a60 + 60; }
interface I61 { a61: number }
function f61(x: I61): number { return x.a61 + 61; }
interface I62 { a62: number }
function f62(x: I62): number { return x.a62 + 62; }
interface I63 { a63: number }
function f63(x: I63): number { return x.a63 + 63; }
interface I64 { a64: number }
function f64(x: I64): number { return x.a64 + 64; }
interface I65 { a65: number }
function f65(x: I65): number { return x.a65 + 65; }
interface I66 { a66: number }
function f66(x: I66): number { return x.a66 + 66; }
interface I67 { a67: number }
function f67(x: I67): number { return x.a67 + 67; }
interface I68 { a68: number }
function f68(x: I68): number { return x.a68 + 68; }
interface I69 { a69: number }
function f69(x: I69): number { return x.a69 + 69; }
interface I70 { a70: number }
function f70(x: I70): number { return x.a70 + 70; }
interface I71 { a71: number }
function f71(x: I71): number { return x.a71 + 71; }
interface I72 { a72: number }
function f72(x: I72): number { return x.a72 + 72; }
interface I73 { a73: number }
function f73(x: I73): number { return x.a73 + 73; }
interface I74 { a74: number }
function f74(x: I74): number { return x.a74 + 74; }
interface I75 { a75: number }
function f75(x: I75): number { return x.a75 + 75; }
interface I76 { a76: number }
function f76(x: I76): number { return x.a76 + 76; }
interface I77 { a77: number }
function f77(x: I77): number { return x.a77 + 77; }
interface I78 { a78: number }
function f78(x: I78): number { return x.a78 + 78; }
interface I79 { a79: number }
function f79(x: I79): number { return x.a79 + 79; }
interface I80 { a80: number }
function f80(x: I80): number { return x.a80 + 80; }
interface I81 { a81: number }
function f81(x: I81): number { return x.a81 + 81; }
interface I82 { a82: number }
function f82(x: I82): number { return x.a82 + 82; }
interface I83 { a83: number }
function f83(x: I83): number { return x.a83 + 83; }
interface I84 { a84: number }
function f84(x: I84): number { return x.a84 + 84; }
interface I85 { a85: number }
function f85(x: I85): number { return x.a85 + 85; }
interface I86 { a86: number }
function f86(x: I86): number { return x.a86 + 86; }
interface I87 { a87: number }
function f87(x: I87): number { return x.a87 + 87; }
interface I88 { a88: number }
function f88(x: I88): number { return x.a88 + 88; }
interface I89 { a89: number }
function f89(x: I89): number { return x.a89 + 89; }
interface I90 { a90: number }
function f90(x: I90): number { return x.a90 + 90; }
interface I91 { a91: number }
function f91(x: I91): number { return x.a91 + 91; }
interface I92 { a92: number }
function f92(x: I92): number { return x.a92 + 92; }
interface I93 { a93: number }
function f93(x: I93): number { return x.a93 + 93; }
interface I94 { a94: number }
function f94(x: I94): number { return x.a94 + 94; }
interface I95 { a95: number }
function f95(x: I95): number { return x.a95 + 95; }
interface I96 { a96: number }
function f96(x: I96): number { return x.a96 + 96; }
interface I97 { a97: number }
function f97(x: I97): number { return x.a97 + 97; }
interface I98 { a98: number }
function f98(x: I98): number { return x.a98 + 98; }
interface I99 { a99: number }
function f99(x: I99): number { return x.a99 + 99; }
interface I100 { a100: number }
function f100(x: I100): number { return x.a100 + 100; }
interface I101 { a101: number }
function f101(x: I101): number { return x.a101 + 101; }
interface I102 { a102: number }
function f102(x: I102): number { return x.a102 + 102; }
interface I103 { a103: number }
function f103(x: I103): number { return x.a103 + 103; }
interface I104 { a104: number }
function f104(x: I104): number { return x.a104 + 104; }
interface I105 { a105: number }
function f105(x: I105): number { return x.a105 + 105; }
interface I106 { a106: number }
function f106(x: I106): number { return x.a106 + 106; }
interface I107 { a107: number }
function f107(x: I107): number { return x.a107 + 107; }
interface I108 { a108: number }
function f108(x: I108): number { return x.a108 + 108; }
interface I109 { a109: number }
function f109(x: I109): number { return x.a109 + 109; }
interface I110 { a110: number }
function f110(x: I110): number { return x.a110 + 110; }
interface I111 { a111: number }
function f111(x: I111): number { return x.a111 + 111; }
interface I112 { a112: number }
function f112(x: I112): number { return x.a112 + 112; }
interface I113 { a113: number }
function f113(x: I113): number { return x.a113 + 113; }
interface I114 { a114: number }
function f114(x: I114): number { return x.a114 + 114; }
interface I115 { a115: number }
function f115(x: I115): number { return x.a115 + 115; }
interface I116 { a116: number }
function f116(x: I116): number { return x.a116 + 116; }
interface I117 { a117: number }
function f117(x: I117): number { return x.a117 + 117; }
interface I118 { a118: number }
function f118(x: I118): number { return x.a118 + 118; }
interface I119 { a119: number }
function f119(x: I119): number { return x.a119 + 119; }
interface I120 { a120: number }
function f120(x: I120): number { return x.a120 + 120; }
interface I121 { a121: number }
function f121(x: I121): number { return x.a121 + 121; }
interface I122 { a122: number }
function f122(x: I122): number { return x.a122 + 122; }
interface I123 { a123: number }
function f123(x: I123): number { return x.a123 + 123; }
interface I124 { a124: number }
function f124(x: I124): number { return x.a124 + 124; }
interface I125 { a125: number }
function f125(x: I125): number { return x.a125 + 125; }
interface I126 { a126: number }
function f126(x: I126): number { return x.a126 + 126; }
interface I127 { a127: number }
function f127(x: I127): number { return x.a127 + 127; }
interface I128 { a128: number }
function f128(x: I128): number { return x.a128 + 128; }
interface I129 { a129: number }
function f129(x: I129): number { return x.a129 + 129; }
interface I130 { a130: number }
function f130(x: I130): number { return x.a130 + 130; }
interface I131 { a131: number }
function f131(x: I131): number { return x.a131 + 131; }
interface I132 { a132: number }
function f132(x: I132): number { return x.a132 + 132; }
interface I133 { a133: number }
function f133(x: I133): number { return x.a133 + 133; }
interface I134 { a134: number }
function f134(x: I134): number { return x.a134 + 134; }
interface I135 { a135: number }
function f135(x: I135): number { return x.a135 + 135; }
interface I136 { a136: number }
function f136(x: I136): number { return x.a136 + 136; }
interface I137 { a137: number }
function f137(x: I137): number { return x.a137 + 137; }
interface I138 { a138: number }
function f138(x: I138): number { return x.a138 + 138; }
interface I139 { a139: number }
function f139(x: I139): number { return x.a139 + 139; }
interface I140 { a140: number }
function f140(x: I140): number { return x.a140 + 140; }
interface I141 { a141: number }
function f141(x: I141): number { return x.a141 + 141; }
interface I142 { a142: number }
function f142(x: I142): number { return x.a142 + 142; }
interface I143 { a143: number }
function f143(x: I143): number { return x.a143 + 143; }
interface I144 { a144: number }
function f144(x: I144): number { return x.a144 + 144; }
interface I145 { a145: number }
function f145(x: I145): number { return x.a145 + 145; }
interface I146 { a146: number }
function f146(x: I146): number { return x.a146 + 146; }
interface I147 { a147: number }
function f147(x: I147): number { return x.a147 + 147; }
interface I148 { a148: number }
function f148(x: I148): number { return x.a148 + 148; }
interface I149 { a149: number }
function f149(x: I149): number { return x.a149 + 149; }
interface I150 { a150: number }
function f150(x: I150): number { return x.a150 + 150; }
interface I151 { a151: number }
function f151(x: I151): number { return x.a151 + 151; }
interface I152 { a152: number }
function f152(x: I152): number { return x.a152 + 152; }
interface I153 { a153: number }
function f153(x: I153): number { return x.a153 + 153; }
interface I154 { a154: number }
function f154(x: I154): number { return x.a154 + 154; }
interface I155 { a155: number }
function f155(x: I155): number { return x.a155 + 155; }
interface I156 { a156: number }
function f156(x: I156): number { return x.a156 + 156; }
interface I157 { a157: number }
function f157(x: I157): number { return x.a157 + 157; }
interface I158 { a158: number }
function f158(x: I158): number { return x.a158 + 158; }
interface I159 { a159: number }
function f159(x: I159): number { return x.a159 + 159; }
interface I160 { a160: number }
function f160(x: I160): number { return x.a160 + 160; }
interface I161 { a161: number }
function f161(x: I161): number { return x.a161 + 161; }
interface I162 { a162: number }
function f162(x: I162): number { return x.a162 + 162; }
interface I163 { a163: number }
function f163(x: I163): number { return x.a163 + 163; }
interface I164 { a164: number }
function f164(x: I164): number { return x.a164 + 164; }
interface I165 { a165: number }
function f165(x: I165): number { return x.a165 + 165; }
interface I166 { a166: number }
function f166(x: I166): number { return x.a166 + 166; }
interface I167 { a167: number }
function f167(x: I167): number { return x.a167 + 167; }
interface I168 { a168: number }
function f168(x: I168): number { return x.a168 + 168; }
interface I169 { a169: number }
function f169(x: I169): number { return x.a169 + 169; }
interface I170 { a170: number }
function f170(x: I170): number { return x.a170 + 170; }
interface I171 { a171: number }
function f171(x: I171): number { return x.a171 + 171; }
interface I172 { a172: number }
function f172(x: I172): number { return x.a172 + 172; }
interface I173 { a173: number }
function f173(x: I173): number { return x.a173 + 173; }
interface I174 { a174: number }
function f174(x: I174): number { return x.a174 + 174; }
interface I175 { a175: number }
function f175(x: I175): number { return x.a175 + 175; }
interface I176 { a176: number }
function f176(x: I176): number { return x.a176 + 176; }
interface I177 { a177: number }
function f177(x: I177): number { return x.a177 + 177; }
interface I178 { a178: number }
function f178(x: I178): number { return x.a178 + 178; }
interface I179 { a179: number }
function f179(x: I179): number { return x.a179 + 179; }
interface I180 { a180: number }
function f180(x: I180): number { return x.a180 + 180; }
interface I181 { a181: number }
function f181(x: I181): number { return x.a181 + 181; }
interface I182 { a182: number }
function f182(x: I182): number { return x.a182 + 182; }
interface I183 { a183: number }
function f183(x: I183): number { return x.a183 + 183; }
interface I184 { a184: number }
function f184(x: I184): number { return x.a184 + 184; }
interface I185 { a185: number }
function f185(x: I185): number { return x.a185 + 185; }
interface I186 { a186: number }
function f186(x: I186): number { return x.a186 + 186; }
interface I187 { a187: number }
function f187(x: I187): number { return x.a187 + 187; }
interface I188 { a188: number }
function f188(x: I188): number { return x.a188 + 188; }
interface I189 { a189: number }
function f189(x: I189): number { return x.a189 + 189; }
interface I190 { a190: number }
function f190(x: I190): number { return x.a190 + 190; }
interface I191 { a191: number }
function f191(x: I191): number { return x.a191 + 191; }
interface I192 { a192: number }
function f192(x: I192): number { return x.a192 + 192; }
interface I193 { a193: number }
function f193(x: I193): number { return x.a193 + 193; }
interface I194 { a194: number }
function f194(x: I194): number { return x.a194 + 194; }
interface I195 { a195: number }
function f195(x: I195): number { return x.a195 + 195; }
interface I196 { a196: number }
function f196(x: I196): number { return x.a196 + 196; }
interface I197 { a197: number }
function f197(x: I197): number { return x.a197 + 197; }
interface I198 { a198: number }
function f198(x: I198): number { return x.a198 + 198; }
interface I199 { a199: number }
function f199(x: I199): number { return x.a199 + 199; }
interface I200 { a200: number }
function f200(x: I200): number { return x.a200 + 200; }
interface I201 { a201: number }
function f201(x: I201): number { return x.a201 + 201; }
interface I202 { a202: number }
function f202(x: I202): number { return x.a202 + 202; }
interface I203 { a203: number }
function f203(x: I203): number { return x.a203 + 203; }
interface I204 { a204: number }
function f204(x: I204): number { return x.a204 + 204; }
interface I205 { a205: number }
function f205(x: I205): number { return x.a205 + 205; }
interface I206 { a206: number }
function f206(x: I206): number { return x.a206 + 206; }
interface I207 { a207: number }
function f207(x: I207): number { return x.a207 + 207; }
interface I208 { a208: number }
function f208(x: I208): number { return x.a208 + 208; }
interface I209 { a209: number }
function f209(x: I209): number { return x.a209 + 209; }
interface I210 { a210: number }
function f210(x: I210): number { return x.a210 + 210; }
interface I211 { a211: number }
function f211(x: I211): number { return x.a211 + 211; }
interface I212 { a212: number }
function f212(x: I212): number { return x.a212 + 212; }
interface I213 { a213: number }
function f213(x: I213): number { return x.a213 + 213; }
interface I214 { a214: number }
function f214(x: I214): number { return x.a214 + 214; }
interface I215 { a215: number }
function f215(x: I215): number { return x.a215 + 215; }
interface I216 { a216: number }
function f216(x: I216): number { return x.a216 + 216; }
interface I217 { a217: number }
function f217(x: I217): number { return x.a217 + 217; }
interface I218 { a218: number }
function f218(x: I218): number { return x.a218 + 218; }
interface I219 { a219: number }
function f219(x: I219): number { return x.a219 + 219; }
interface I220 { a220: number }
function f220(x: I220): number { return x.a220 + 220; }
interface I221 { a221: number }
function f221(x: I221): number { return x.a221 + 221; }
interface I222 { a222: number }
function f222(x: I222): number { return x.a222 + 222; }
interface I223 { a223: number }
function f223(x: I223): number { return x.a223 + 223; }
interface I224 { a224: number }
function f224(x: I224): number { return x.a224 + 224; }
interface I225 { a225: number }
function f225(x: I225): number { return x.a225 + 225; }
interface I226 { a226: number }
function f226(x: I226): number { return x.a226 + 226; }
interface I227 { a227: number }
function f227(x: I227): number { return x.a227 + 227; }
interface I228 { a228: number }
function f228(x: I228): number { return x.a228 + 228; }
interface I229 { a229: number }
function f229(x: I229): number { return x.a229 + 229; }
interface I230 { a230: number }
function f230(x: I230): number { return x.a230 + 230; }
interface I231 { a231: number }
function f231(x: I231): number { return x.a231 + 231; }
interface I232 { a232: number }
function f232(x: I232): number { return x.a232 + 232; }
interface I233 { a233: number }
function f233(x: I233): number { return x.a233 + 233; }
interface I234 { a234: number }
function f234(x: I234): number { return x.a234 + 234; }
interface I235 { a235: number }
function f235(x: I235): number { return x.a235 + 235; }
interface I236 { a236: number }
function f236(x: I236): number { return x.a236 + 236; }
interface I237 { a237: number }
function f237(x: I237): number { return x.a237 + 237; }
interface I238 { a238: number }
function f238(x: I238): number { return x.a238 + 238; }
interface I239 { a239: number }
function f239(x: I239): number { return x.a239 + 239; }
interface I240 { a240: number }
function f240(x: I240): number { return x.a240 + 240; }
interface I241 { a241: number }
function f241(x: I241): number { return x.a241 + 241; }
interface I242 { a242: number }
function f242(x: I242): number { return x.a242 + 242; }
interface I243 { a243: number }
function f243(x: I243): number { return x.a243 + 243; }
interface I244 { a244: number }
function f244(x: I244): number { return x.a244 + 244; }
interface I245 { a245: number }
function f245(x: I245): number { return x.a245 + 245; }
interface I246 { a246: number }
function f246(x: I246): number { return x.a246 + 246; }
interface I247 { a247: number }
function f247(x: I247): number { return x.a247 + 247; }
interface I248 { a248: number }
function f248(x: I248): number { return x.a248 + 248; }
interface I249 { a249: number }
function f249(x: I249): number { return x.a249 + 249; }
interface I250 { a250: number }
function f250(x: I250): number { return x.a250 + 250; }
interface I251 { a251: number }
function f251(x: I251): number { return x.a251 + 251; }
interface I252 { a252: number }
function f252(x: I252): number { return x.a252 + 252; }
interface I253 { a253: number }
function f253(x: I253): number { return x.a253 + 253; }
interface I254 { a254: number }
function f254(x: I254): number { return x.a254 + 254; }
interface I255 { a255: number }
function f255(x: I255): number { return x.a255 + 255; }
interface I256 { a256: number }
function f256(x: I256): number { return x.a256 + 256; }
interface I257 { a257: number }
function f257(x: I257): number { return x.a257 + 257; }
interface I258 { a258: number }
function f258(x: I258): number { return x.a258 + 258; }
interface I259 { a259: number }
function f259(x: I259): number { return x.a259 + 259; }
interface I260 { a260: number }
function f260(x: I260): number { return x.a260 + 260; }
interface I261 { a261: number }
function f261(x: I261): number { return x.a261 + 261; }
interface I262 { a262: number }
function f262(x: I262): number { return x.a262 + 262; }
interface I263 { a263: number }
function f263(x: I263): number { return x.a263 + 263; }
interface I264 { a264: number }
function f264(x: I264): number { return x.a264 + 264; }
interface I265 { a265: number }
function f265(x: I265): number { return x.a265 + 265; }
interface I266 { a266: number }
function f266(x: I266): number { return x.a266 + 266; }
interface I267 { a267: number }
function f267(x: I267): number { return x.a267 + 267; }
interface I268 { a268: number }
function f268(x: I268): number { return x.a268 + 268; }
interface I269 { a269: number }
function f269(x: I269): number { return x.a269 + 269; }
interface I270 { a270: number }
function f270(x: I270): number { return x.a270 + 270; }
interface I271 { a271: number }
function f271(x: I271): number { return x.a271 + 271; }
interface I272 { a272: number }
function f272(x: I272): number { return x.a272 + 272; }
interface I273 { a273: number }
function f273(x: I273): number { return x.a273 + 273; }
interface I274 { a274: number }
function f274(x: I274): number { return x.a274 + 274; }
interface I275 { a275: number }
function f275(x: I275): number { return x.a275 + 275; }
interface I276 { a276: number }
function f276(x: I276): number { return x.a276 + 276; }
interface I277 { a277: number }
function f277(x: I277): number { return x.a277 + 277; }
interface I278 { a278: number }
function f278(x: I278): number { return x.a278 + 278; }
interface I279 { a279: number }
function f279(x: I279): number { return x.a279 + 279; }
interface I280 { a280: number }
function f280(x: I280): number { return x.a280 + 280; }
interface I281 { a281: number }
function f281(x: I281): number { return x.a281 + 281; }
interface I282 { a282: number }
function f282(x: I282): number { return x.a282 + 282; }
interface I283 { a283: number }
function f283(x: I283): number { return x.a283 + 283; }
interface I284 { a284: number }
function f284(x: I284): number { return x.a284 + 284; }
interface I285 { a285: number }
function f285(x: I285): number { return x.a285 + 285; }
interface I286 { a286: number }
function f286(x: I286): number { return x.a286 + 286; }
interface I287 { a287: number }
function f287(x: I287): number { return x.a287 + 287; }
interface I288 { a288: number }
function f288(x: I288): number { return x.a288 + 288; }
interface I289 { a289: number }
function f289(x: I289): number { return x.a289 + 289; }
interface I290 { a290: number }
function f290(x: I290): number { return x.a290 + 290; }
interface I291 { a291: number }
function f291(x: I291): number { return x.a291 + 291; }
interface I292 { a292: number }
function f292(x: I292): number { return x.a292 + 292; }
interface I293 { a293: number }
function f293(x: I293): number { return x.a293 + 293; }
interface I294 { a294: number }
function f294(x: I294): number { return x.a294 + 294; }
interface I295 { a295: number }
function f295(x: I295): number { return x.a295 + 295; }
interface I296 { a296: number }
function f296(x: I296): number { return x.a296 + 296; }
interface I297 { a297: number }
function f297(x: I297): number { return x.a297 + 297; }
interface I298 { a298: number }
function f298(x: I298): number { return x.a298 + 298; }
interface I299 { a299: number }
function f299(x: I299): number { return x.a299 + 299; }
interface I300 { a300: number }
function f300(x: I300): number { return x.a300 + 300; }
interface I301 { a301: number }
function f301(x: I301): number { return x.a301 + 301; }
interface I302 { a302: number }
function f302(x: I302): number { return x.a302 + 302; }
interface I303 { a303: number }
function f303(x: I303): number { return x.a303 + 303; }
interface I304 { a304: number }
function f304(x: I304): number { return x.a304 + 304; }
interface I305 { a305: number }
function f305(x: I305): number { return x.a305 + 305; }
interface I306 { a306: number }
function f306(x: I306): number { return x.a306 + 306; }
interface I307 { a307: number }
function f307(x: I307): number { return x.a307 + 307; }
interface I308 { a308: number }
function f308(x: I308): number { return x.a308 + 308; }
interface I309 { a309: number }
function f309(x: I309): number { return x.a309 + 309; }
interface I310 { a310: number }
function f310(x: I310): number { return x.a310 + 310; }
interface I311 { a311: number }
function f311(x: I311): number { return x.a311 + 311; }
interface I312 { a312: number }
function f312(x: I312): number { return x.a312 + 312; }
interface I313 { a313: number }
function f313(x: I313): number { return x.a313 + 313; }
interface I314 { a314: number }
function f314(x: I314): number { return x.a314 + 314; }
interface I315 { a315: number }
function f315(x: I315): number { return x.a315 + 315; }
interface I316 { a316: number }
function f316(x: I316): number { return x.a316 + 316; }
interface I317 { a317: number }
function f317(x: I317): number { return x.a317 + 317; }
interface I318 { a318: number }
function f318(x: I318): number { return x.a318 + 318; }
interface I319 { a319: number }
function f319(x: I319): number { return x.a319 + 319; }
interface I320 { a320: number }
function f320(x: I320): number { return x.a320 + 320; }
interface I321 { a321: number }
function f321(x: I321): number { return x.a321 + 321; }
interface I322 { a322: number }
function f322(x: I322): number { return x.a322 + 322; }
interface I323 { a323: number }
function f323(x: I323): number { return x.a323 + 323; }
interface I324 { a324: number }
function f324(x: I324): number { return x.a324 + 324; }
interface I325 { a325: number }
function f325(x: I325): number { return x.a325 + 325; }
interface I326 { a326: number }
function f326(x: I326): number { return x.a326 + 326; }
interface I327 { a327: number }
function f327(x: I327): number { return x.a327 + 327; }
interface I328 { a328: number }
function f328(x: I328): number { return x.a328 + 328; }
interface I329 { a329: number }
function f329(x: I329): number { return x.a329 + 329; }
interface I330 { a330: number }
function f330(x: I330): number { return x.a330 + 330; }
interface I331 { a331: number }
function f331(x: I331): number { return x.a331 + 331; }
interface I332 { a332: number }
function f332(x: I332): number { return x.a332 + 332; }
interface I333 { a333: number }
function f333(x: I333): number { return x.a333 + 333; }
interface I334 { a334: number }
function f334(x: I334): number { return x.a334 + 334; }
interface I335 { a335: number }
function f335(x: I335): number { return x.a335 + 335; }
interface I336 { a336: number }
function f336(x: I336): number { return x.a336 + 336; }
interface I337 { a337: number }
function f337(x: I337): number { return x.a337 + 337; }
interface I338 { a338: number }
function f338(x: I338): number { return x.a338 + 338; }
interface I339 { a339: number }
function f339(x: I339): number { return x.a339 + 339; }
interface I340 { a340: number }
function f340(x: I340): number { return x.a340 + 340; }
interface I341 { a341: number }
function f341(x: I341): number { return x.a341 + 341; }
interface I342 { a342: number }
function f342(x: I342): number { return x.a342 + 342; }
interface I343 { a343: number }
function f343(x: I343): number { return x.a343 + 343; }
interface I344 { a344: number }
function f344(x: I344): number { return x.a344 + 344; }
interface I345 { a345: number }
function f345(x: I345): number { return x.a345 + 345; }
interface I346 { a346: number }
function f346(x: I346): number { return x.a346 + 346; }
interface I347 { a347: number }
function f347(x: I347): number { return x.a347 + 347; }
interface I348 { a348: number }
function f348(x: I348): number { return x.a348 + 348; }
interface I349 { a349: number }
function f349(x: I349): number { return x.a349 + 349; }
interface I350 { a350: number }
function f350(x: I350): number { return x.a350 + 350; }
interface I351 { a351: number }
function f351(x: I351): number { return x.a351 + 351; }
interface I352 { a352: number }
function f352(x: I352): number { return x.a352 + 352; }
interface I353 { a353: number }
function f353(x: I353): number { return x.a353 + 353; }
interface I354 { a354: number }
function f354(x: I354): number { return x.a354 + 354; }
interface I355 { a355: number }
function f355(x: I355): number { return x.a355 + 355; }
interface I356 { a356: number }
function f356(x: I356): number { return x.a356 + 356; }
interface I357 { a357: number }
function f357(x: I357): number { return x.a357 + 357; }
interface I358 { a358: number }
function f358(x: I358): number { return x.a358 + 358; }
interface I359 { a359: number }
function f359(x: I359): number { return x.a359 + 359; }
interface I360 { a360: number }
function f360(x: I360): number { return x.a360 + 360; }
interface I361 { a361: number }
function f361(x: I361): number { return x.a361 + 361; }
interface I362 { a362: number }
function f362(x: I362): number { return x.a362 + 362; }
interface I363 { a363: number }
function f363(x: I363): number { return x.a363 + 363; }
interface I364 { a364: number }
function f364(x: I364): number { return x.a364 + 364; }
interface I365 { a365: number }
function f365(x: I365): number { return x.a365 + 365; }
interface I366 { a366: number }
function f366(x: I366): number { return x.a366 + 366; }
interface I367 { a367: number }
function f367(x: I367): number { return x.a367 + 367; }
interface I368 { a368: number }
function f368(x: I368): number { return x.a368 + 368; }
interface I369 { a369: number }
function f369(x: I369): number { return x.a369 + 369; }
interface I370 { a370: number }
function f370(x: I370): number { return x.a370 + 370; }
interface I371 { a371: number }
function f371(x: I371): number { return x.a371 + 371; }
interface I372 { a372: number }
function f372(x: I372): number { return x.a372 + 372; }
interface I373 { a373: number }
function f373(x: I373): number { return x.a373 + 373; }
interface I374 { a374: number }
function f374(x: I374): number { return x.a374 + 374; }
interface I375 { a375: number }
function f375(x: I375): number { return x.a375 + 375; }
interface I376 { a376: number }
function f376(x: I376): number { return x.a376 + 376; }
interface I377 { a377: number }
function f377(x: I377): number { return x.a377 + 377; }
interface I378 { a378: number }
function f378(x: I378): number { return x.a378 + 378; }
interface I379 { a379: number }
function f379(x: I379): number { return x.a379 + 379; }
interface I380 { a380: number }
function f380(x: I380): number { return x.a380 + 380; }
interface I381 { a381: number }
function f381(x: I381): number { return x.a381 + 381; }
interface I382 { a382: number }
function f382(x: I382): number { return x.a382 + 382; }
interface I383 { a383: number }
function f383(x: I383): number { return x.a383 + 383; }
interface I384 { a384: number }
function f384(x: I384): number { return x.a384 + 384; }
interface I385 { a385: number }
function f385(x: I385): number { return x.a385 + 385; }
interface I386 { a386: number }
function f386(x: I386): number { return x.a386 + 386; }
interface I387 { a387: number }
function f387(x: I387): number { return x.a387 + 387; }
interface I388 { a388: number }
function f388(x: I388): number { return x.a388 + 388; }
interface I389 { a389: number }
function f389(x: I389): number { return x.a389 + 389; }
interface I390 { a390: number }
function f390(x: I390): number { return x.a390 + 390; }
interface I391 { a391: number }
function f391(x: I391): number { return x.a391 + 391; }
interface I392 { a392: number }
function f392(x: I392): number { return x.a392 + 392; }
interface I393 { a393: number }
function f393(x: I393): number { return x.a393 + 393; }
interface I394 { a394: number }
function f394(x: I394): number { return x.a394 + 394; }
interface I395 { a395: number }
function f395(x: I395): number { return x.a395 + 395; }
interface I396 { a396: number }
function f396(x: I396): number { return x.a396 + 396; }
interface I397 { a397: number }
function f397(x: I397): number { return x.a397 + 397; }
interface I398 { a398: number }
function f398(x: I398): number { return x.a398 + 398; }
interface I399 { a399: number }
function f399(x: I399): number { return x.a399 + 399; }
console.log(f7({ a7: 1 }), new Error('here').stack!.split('\n')[1]);
